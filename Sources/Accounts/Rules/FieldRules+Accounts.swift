import Capability
import GatewayAPI
import RPC

extension FieldRules {
    static func role(_ text: String) throws(RPCError) -> Role {
        guard let role = Role(rawValue: text) else {
            throw .invalidArgument("role must be admin, operator, viewer, member or service")
        }
        return role
    }

    /// Returns the status for 1 (enabled), 2 (disabled), or 0, which a creation without a status sends: enabled.
    static func status(_ number: Int32) throws(RPCError) -> Availability {
        guard let status = Availability(rawValue: number == 0 ? 1 : Int64(number)) else {
            throw .invalidArgument("status must be 1 (enabled) or 2 (disabled)")
        }
        return status
    }

    /// Returns the status for 1 (enabled) or 2 (disabled); an update has to give it explicitly.
    static func newStatus(_ number: Int32) throws(RPCError) -> Availability {
        guard number != 0 else { throw .invalidArgument("status must be 1 (enabled) or 2 (disabled)") }
        return try status(number)
    }
}
