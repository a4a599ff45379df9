import Crypto
package import Database
import HTTPTypes
import Protobuf
package import RPC

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
    package func did(to target: String, in connection: ReadConnection) throws -> AuditEntry {
        AuditEntry(
            actor: owner.principal.name,
            organization: try OrganizationRecords(connection).reference(id: owner.organizationID),
            action: action, target: target, peer: peer)
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
