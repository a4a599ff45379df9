import HTTPTypes
import Protobuf
package import RPC

/// The program that calls InternalStorageService, authenticated by a token of SYSTEM or by its certificate.
package struct ServiceCaller: Sendable {
    /// `nil` if it is authenticated by its certificate.
    package let user: UserPrincipal?
    private let actor: String
    private let action: String
    private let peer: String

    /// - Throws: UNAUTHENTICATED for any other caller.
    package init(_ context: CallContext) throws(RPCError) {
        if case .certificate = context.principal, let principal = context.principal {
            user = nil
            actor = principal.name
        } else {
            let user = try context.user
            self.user = user
            actor = user.auditName
        }
        action = context.method.name
        peer = context.peer.host
    }

    /// Returns the audit line for successful work on `target`.
    package func did(to target: String) -> AuditEntry {
        AuditEntry(
            actor: actor, organization: user?.organization, action: action, target: target, peer: peer)
    }
}
