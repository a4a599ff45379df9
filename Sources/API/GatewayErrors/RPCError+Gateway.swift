import RPC

extension RPCError {
    package static func invalidArgument(_ message: String) -> RPCError { RPCError(.invalidArgument, message) }

    package static func failedPrecondition(_ message: String) -> RPCError { RPCError(.failedPrecondition, message) }
}
