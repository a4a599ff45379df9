import Accounts
import Basics
import Crypto
import GatewayAPI
package import RPC

/// The rules for the fields of a device, also for programs that prepare calls.
///
/// Each function throws INVALID_ARGUMENT with the field and the rule.
package enum DeviceRules {
    /// The largest number of devices whose names one request asks for.
    static let mostNames = 1000

    /// Checks an id of the form `YYMMDD-NNNNNN`.
    package static func id(_ text: String) throws(RPCError) { _ = try DeviceID(text) }

    /// The message for a device that is retired, where a device in use is expected.
    package static func retired(_ id: String) -> String {
        "device \(id) is retired: 'device unretire \(id)' returns it to use"
    }

    /// Checks a suite's name such as `deviceSuites/7`; empty = none.
    package static func suite(_ name: String) throws(RPCError) {
        if !name.isEmpty { _ = try ResourceName.suiteID(name, field: "suite") }
    }

    /// Checks a name for people of at most 128 bytes of UTF-8 without control characters; may be empty.
    package static func displayName(_ text: String) throws(RPCError) {
        try FieldRules.optionalTitle(text, field: "display_name")
    }

    /// Checks a text of at most 1024 bytes of UTF-8 without control characters; may be empty. Also applies to suites.
    package static func description(_ text: String) throws(RPCError) {
        try FieldRules.note(text, field: "description", limit: 1024)
    }

    /// Checks at most 192 tags, by the limits of `TagRules`.
    package static func tags(_ tags: [String: String]) throws(RPCError) {
        try TagRules.check(tags, field: "tags", maximum: TagRules.maximumOfDevice)
    }
}

/// A device's identifier: `YYMMDD-NNNNNN`, the day of its assignment and six digits.
struct DeviceID: Sendable, Hashable {
    let text: String

    /// - Throws: DATA_GATEWAY_DEVICE_ID_INVALID for anything but six digits, a hyphen and six digits.
    init(_ text: String) throws(RPCError) {
        let bytes = Array(text.utf8)
        let isWellFormed =
            bytes.count == 13
            && bytes.enumerated().allSatisfy { index, byte in
                index == 6 ? byte == UInt8(ascii: "-") : byte.isASCIIDigit
            }
        guard isWellFormed else {
            throw RPCError(.deviceIDInvalid, "a device id must have the form YYMMDD-NNNNNN (digits)")
        }
        self.text = text
    }

    /// Assigns an id of today (UTC) with six random digits: sequential ids could be guessed, and an init returns a key.
    static func assigned(at now: UnixTime) throws(RPCError) -> DeviceID {
        let day = CivilTime(now)
        let number = Random.bytes(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % 1_000_000
        let date = [day.year % 100, day.month, day.day].map { $0.padded(to: 2) }.joined()
        return try DeviceID("\(date)-\(number.padded(to: 6))")
    }
}

/// The resource names in requests and responses of management calls: `deviceSuites/7`, `devices/260427-000001`.
enum ResourceName {
    static func suite(_ id: Int64) -> String { "deviceSuites/\(id)" }

    static func device(_ id: String) -> String { "devices/\(id)" }

    static func suiteID(_ name: String, field: String) throws(RPCError) -> Int64 {
        let prefix = "deviceSuites/"
        guard name.hasPrefix(prefix), let id = Int64(name.dropFirst(prefix.count)), id > 0, suite(id) == name else {
            throw .invalidArgument("\(field) must be deviceSuites/NUMBER")
        }
        return id
    }

    static func deviceID(_ name: String, field: String) throws(RPCError) -> DeviceID {
        let prefix = "devices/"
        guard name.hasPrefix(prefix) else { throw .invalidArgument("\(field) must be devices/YYMMDD-NNNNNN") }
        return try DeviceID(String(name.dropFirst(prefix.count)))
    }
}
