package import HTTPTypes
import Proto
package import Wire

extension ClientFailure {
    /// The failure of a call to `server`.
    package init(_ status: GRPCStatus, of method: MethodDescriptor, at server: PeerAddress) {
        let details = status.details.flatMap { try? ErrorDetail(decoding: $0) }
        let detail = details?.code ?? ""
        let code = detail.isEmpty ? status.code.name : detail
        let text = status.message.isEmpty ? "\(method.name) failed" : status.message
        let message =
            switch status.code {
            // The channel's own message names the address.
            case .unavailable where text.hasPrefix("cannot reach \(server)"): text
            case .unavailable, .deadlineExceeded: "\(server) is not available: \(text) (\(code))"
            case .unauthenticated
            where method != AuthServiceMethods.login && method != SessionServiceMethods.completeLogin:
                "you are not signed in, or the session ended: run data-gateway login (\(text), \(code))"
            case .unimplemented:
                "\(server) does not have \(method.name): check that the address is the right listener of the gateway (\(code))"
            // Only servers other than a gateway respond with this status.
            case .unknown: "\(server): \(text) (\(code))"
            default: "\(text) (\(code))"
            }
        let isPassing = status.code == .unavailable || status.code == .deadlineExceeded
        self.init(message, exitCode: isPassing ? .unreachable : .refused, status: status.code)
        self.detail = detail
        metadata = details?.metadata ?? [:]
    }
}
