import Wire

extension RPCError {
    /// What a client is told of an error that a handler threw. This is the one table from errors to statuses.
    init(thrown error: any Error, by method: MethodDescriptor) {
        switch error {
        case let error as RPCError:
            self = error
        case let error as any RPCErrorConvertible:
            self = error.rpcError
            if detail == .internalError && method.service.hasPrefix("archebase.auth.") { detail = .authInternalError }
        case is CancellationError:
            self.init(bare: .cancelled, "the call was cancelled")
        case _ where method.service.hasPrefix("archebase.auth."):
            self.init(.authInternalError, "internal error")
        case _ where method.service.hasPrefix("archebase."):
            self.init(.internalError, "internal error")
        default:
            self.init(bare: .internalError, "internal error")
        }
    }
}

extension MessageDeframer.Failure {
    /// RESOURCE_EXHAUSTED is what gRPC's specification names for a message over the limit: clients must not retry it.
    var rpcError: RPCError {
        switch self {
        case .tooLong(let claimed, let limit):
            RPCError(bare: .resourceExhausted, "a message of \(claimed) bytes is over the limit of \(limit)")
        case .badFlag(let flag):
            .malformedCall("a message's compression flag is \(flag), not 0 or 1")
        }
    }
}

extension MessageEncoding.Failure {
    var rpcError: RPCError {
        switch self {
        case .malformed:
            .invalidArgument("a compressed message is not in the format that its header field says")
        case .tooLong(let limit):
            RPCError(bare: .resourceExhausted, "a compressed message holds more than the limit of \(limit) bytes")
        }
    }
}
