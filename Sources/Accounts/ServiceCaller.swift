import RPC

/// The program behind a call of InternalStorageService: known by a token of SYSTEM, or by its certificate.
package struct ServiceCaller: Sendable {
    /// `nil` = known by its certificate.
    package let user: UserPrincipal?
    private let actor: String
    private let action: String
    private let peer: String

    /// - Throws: UNAUTHENTICATED where the call was made by neither.
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

    /// The audit line that says that the call did its work on `target`.
    package func did(to target: String) -> AuditEntry {
        AuditEntry(
            actor: actor, organization: user?.organization, action: action, target: target, peer: peer)
    }
}
