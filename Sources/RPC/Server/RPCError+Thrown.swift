import GRPCWire
import Protobuf

extension RPCError {
    /// Makes the error that a client receives for an error thrown in a call of that method. This is the only mapping of errors to
    /// statuses.
    init(_ error: any Error, of method: MethodDescriptor, policy: ErrorPolicy) {
        if let error = error as? RPCError {
            self = error
            if let condition, detail == nil { detail = policy.detail(condition, method) }
        } else if let refusal = RPCError(of: error) {
            self = refusal
            if status == .internalError, detail != nil { detail = policy.detail(.internalError, method) ?? detail }
        } else if error is CancellationError {
            self.init(bare: .cancelled, "the call was canceled")
        } else {
            self = RPCError(bare: .internalError, "the gateway failed").caused(by: error)
            detail = policy.detail(.internalError, method)
        }
    }
}

extension MessageDeframer.Failure {
    /// gRPC specifies RESOURCE_EXHAUSTED for a message above the limit: clients must not retry it.
    var rpcError: RPCError {
        switch self {
        case .tooLong(let claimed, let limit):
            .tooLarge("a message of \(claimed) bytes exceeds the limit of \(limit) bytes")
        case .badFlag(let flag):
            .malformedCall("a message's compression flag must be 0 or 1, not \(flag)")
        }
    }
}

extension MessageEncoding.Failure {
    var rpcError: RPCError {
        switch self {
        case .malformed:
            .invalidRequest("a compressed message does not have the format that its header field names")
        case .tooLong(let limit):
            .tooLarge("a compressed message holds more than the limit of \(limit) bytes")
        }
    }
}
