import Accounts
import GatewayAPI
import RPC

/// What the fields of a device must look like. A program that prepares calls can ask before it makes them.
///
/// Each throws INVALID_ARGUMENT that names the field and the rule.
package enum DeviceRules {
    /// `YYMMDD-NNNNNN`
    package static func id(_ text: String) throws(RPCError) { _ = try DeviceID(text) }

    /// The suite's name, `deviceSuites/7`; empty = none.
    package static func suite(_ name: String) throws(RPCError) {
        if !name.isEmpty { _ = try ResourceName.suiteID(name, field: "suite") }
    }

    /// At most 128 bytes of UTF-8 without control characters; may be empty.
    package static func displayName(_ text: String) throws(RPCError) {
        try FieldRules.note(text, field: "display_name", limit: 128)
    }

    /// At most 1024 bytes of UTF-8 without control characters; may be empty. Those of suites, too.
    package static func description(_ text: String) throws(RPCError) {
        try FieldRules.note(text, field: "description", limit: 1024)
    }

    /// At most 192, by the limits of `TagRules`.
    package static func tags(_ tags: [String: String]) throws(RPCError) {
        try TagRules.check(tags, field: "tags", maximum: TagRules.maximumOfDevice)
    }
}
