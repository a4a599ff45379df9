import RPC

extension RPCError {
    public static func invalidArgument(_ message: String) -> RPCError { RPCError(.invalidArgument, message) }

    public static func failedPrecondition(_ message: String) -> RPCError { RPCError(.failedPrecondition, message) }
}
