import HTTPTypes
import Proto
import Wire

extension ClientFailure {
    /// How a call ended at `server`.
    package init(_ status: GRPCStatus, of method: MethodDescriptor, at server: PeerAddress) {
        let detail = status.details.flatMap { try? ErrorDetail(decoding: $0) }?.code ?? ""
        let code = detail.isEmpty ? status.code.name : detail
        let said = status.message.isEmpty ? "\(method.name) failed" : status.message
        let message =
            switch status.code {
            case .unavailable, .deadlineExceeded: "\(server) is not available: \(said) (\(code))"
            case .unauthenticated where method != AuthServiceMethods.login:
                "you are not signed in, or the session ended: run data-gateway login (\(said), \(code))"
            case .unimplemented:
                "\(server) does not have \(method.name): check that the address is the right listener of the gateway (\(code))"
            // Only a server that is not a gateway answers so.
            case .unknown: "\(server): \(said) (\(code))"
            default: "\(said) (\(code))"
            }
        let isPassing = status.code == .unavailable || status.code == .deadlineExceeded
        self.init(message, exitCode: isPassing ? .unreachable : .refused, status: status.code)
    }
}
