import RPC

/// The user behind a call, as the rules of a capability need to know them: for whom they act, and what the audit log says.
package struct Caller: Sendable {
    package let user: UserPrincipal
    /// The call's step in its client's trace; `nil` where it told none.
    package let traceparent: String?
    private let action: String
    private let peer: String

    /// - Throws: UNAUTHENTICATED where the call was not made by a user.
    package init(_ context: CallContext) throws(RPCError) {
        user = try context.user
        traceparent = context.trace?.traceparent
        action = context.method.name
        peer = context.peer.host
    }

    /// The organization that what they create belongs to, and that they see.
    package var organization: OrganizationReference { user.organization }

    /// Whether the call is about SYSTEM itself.
    var isSystem: Bool { user.isSystem && organization == user.home }

    /// The audit line that says that the call did its work on `target`.
    package func did(to target: String) -> AuditEntry {
        AuditEntry(actor: user.auditName, organization: user.organization, action: action, target: target, peer: peer)
    }

    /// The line of a call that did its work on several things: one line, which names each of them.
    ///
    /// - Parameter kind: what they are, e.g. `files`; one alone is the target `files/ID`.
    package func did(to ids: [String], of kind: String) -> AuditEntry {
        if ids.count == 1 { return did(to: "\(kind)/\(ids[0])") }
        var entry = did(to: kind)
        entry.ids = ids
        entry.count = ids.count
        return entry
    }
}
