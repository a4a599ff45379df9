import Basics
import Crypto
import GatewayAPI
import RPC

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
