import Accounts
import GatewayAPI
package import RPC

/// The rules for the fields of a device, also for programs that prepare calls.
///
/// Each function throws INVALID_ARGUMENT with the field and the rule.
package enum DeviceRules {
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
