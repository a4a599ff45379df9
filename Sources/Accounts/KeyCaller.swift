import Database
import RPC

/// The device or site behind a call, as the rules of a capability need to know it: whose the uploads are, and what the audit
/// log says.
package struct KeyCaller: Sendable {
    package let owner: KeyOwner
    /// The call's step in its client's trace, for requests that are made because of it; `nil` where it told none.
    package let traceparent: String?
    private let action: String
    private let peer: String

    /// - Throws: UNAUTHENTICATED where the call was not made with an API key's token.
    package init(_ context: CallContext) throws(RPCError) {
        owner = try context.keyOwner
        traceparent = context.trace?.traceparent
        action = context.method.name
        peer = context.peer.host
    }

    /// The audit line that says that the call did its work on `target`.
    package func did(to target: String, in connection: Connection) throws -> AuditEntry {
        AuditEntry(
            actor: owner.principal.name,
            organization: try OrganizationRecords(connection).reference(id: owner.organizationID),
            action: action, target: target, peer: peer)
    }
}

extension KeyOwner {
    fileprivate var principal: Principal {
        switch self {
        case .device(let device): .device(device)
        case .site(let site): .site(site)
        }
    }
}
