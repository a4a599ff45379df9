import Crypto
import HTTPTypes
import Protobuf
package import RPC

/// The user of a call: the organization they act for, and their entries in the audit log.
package struct Caller: Sendable {
    package let user: UserPrincipal
    /// The position of the call in its client's trace; `nil` if the client sent none.
    package let traceparent: String?
    private let action: String
    /// The caller's address, without a port.
    let peer: String

    /// - Throws: UNAUTHENTICATED if the caller is not a user.
    package init(_ context: CallContext) throws(RPCError) {
        user = try context.user
        traceparent = context.trace?.traceparent
        action = context.method.name
        peer = context.peer.host
    }

    /// The organization that the caller sees, and to which new resources belong.
    package var organization: OrganizationReference { user.organization }

    /// Whether the call concerns SYSTEM itself.
    var isSystem: Bool { user.actsForAll }

    /// Refuses API tokens. What decides who can sign in would outlive the token, its expiry and its revocation.
    ///
    /// - Parameter action: the rest of the sentence "An API token cannot …".
    /// - Throws: PERMISSION_DENIED.
    func requirePerson(to action: String) throws(RPCError) {
        guard user.apiTokenID == nil else {
            throw .permissionDenied("an API token cannot \(action): sign in and use the session of a person")
        }
    }

    /// Returns the audit line for successful work on `target`.
    package func did(to target: String) -> AuditEntry {
        AuditEntry(actor: user.auditName, organization: user.organization, action: action, target: target, peer: peer)
    }

    /// Returns one audit line for successful work on several targets, with the id of each.
    ///
    /// - Parameter kind: the kind of targets, e.g. `files`; a single one becomes the target `files/ID`.
    package func did(to ids: [String], of kind: String) -> AuditEntry {
        if ids.count == 1 { return did(to: "\(kind)/\(ids[0])") }
        var entry = did(to: kind)
        entry.ids = ids
        entry.count = ids.count
        return entry
    }
}

/// The device or site of a call: the owner of the uploads, and its entries in the audit log.
package struct KeyCaller: Sendable {
    package let owner: KeyOwner
    /// The position of the call in its client's trace, for requests made on its behalf; `nil` if the client sent none.
    package let traceparent: String?
    private let action: String
    private let peer: String

    /// - Throws: UNAUTHENTICATED if the call has no token for an API key.
    package init(_ context: CallContext) throws(RPCError) {
        owner = try context.keyOwner
        traceparent = context.trace?.traceparent
        action = context.method.name
        peer = context.peer.host
    }

    /// Returns the audit line for successful work on `target`.
    package func did(to target: String) -> AuditEntry {
        AuditEntry(
            actor: owner.principal.name, organization: .unnamed(owner.organizationID), action: action, target: target,
            peer: peer)
    }
}

extension KeyOwner {
    var principal: Principal {
        switch self {
        case .device(let device): .device(device)
        case .site(let site): .site(site)
        }
    }
}

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
