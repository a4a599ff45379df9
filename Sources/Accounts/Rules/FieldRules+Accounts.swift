import GatewayAPI
import RPC

extension FieldRules {
    static func role(_ text: String) throws(RPCError) -> Role {
        guard let role = Role(rawValue: text) else {
            throw .invalidArgument("role must be admin, operator, viewer or service")
        }
        return role
    }

    /// 1 enabled, 2 disabled, 0 what a creation means by leaving it out: enabled.
    static func status(_ number: Int32) throws(RPCError) -> Availability {
        guard let status = Availability(rawValue: number == 0 ? 1 : Int64(number)) else {
            throw .invalidArgument("status must be 1 (enabled) or 2 (disabled)")
        }
        return status
    }

    /// 1 enabled, 2 disabled: what a change names it must mean.
    static func newStatus(_ number: Int32) throws(RPCError) -> Availability {
        guard number != 0 else { throw .invalidArgument("status must be 1 (enabled) or 2 (disabled)") }
        return try status(number)
    }
}
