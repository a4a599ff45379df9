/// The party on whose behalf work is done, so that shared resources are divided fairly between parties.
///
/// A shared resource serves groups in turn, and within a group its owners: see ``TurnTree``.
package struct WorkOwner: Hashable, Sendable {
    /// The owner that the task works for; `nil` for the gateway itself.
    @TaskLocal package static var current: WorkOwner?

    /// The owners that share one turn.
    package enum Group: Hashable, Sendable {
        case organization(Int64)
        /// A static key of the object store, which the configuration names.
        case staticKey(String)
        /// Programs that act for every organization.
        case unaffiliated
        /// Callers who are not known yet.
        case strangers
    }

    private enum Kind: UInt8 {
        case apiKey
        case user
        case staticKey
        case program
        case address
    }

    package let group: Group
    private let kind: Kind
    private let id: String

    private init(_ group: Group, _ kind: Kind, _ id: String) {
        self.group = group
        self.kind = kind
        self.id = id
    }

    private init(_ organization: Int64?, _ kind: Kind, _ id: String) {
        self.init(organization.map { .organization($0) } ?? .unaffiliated, kind, id)
    }

    /// Returns the owner for a device or a site, by the id of its API key.
    package static func apiKey(_ id: String, of organization: Int64?) -> WorkOwner {
        WorkOwner(organization, .apiKey, id)
    }

    /// Returns the owner for a user, by the user's id.
    package static func user(_ id: Int64, of organization: Int64?) -> WorkOwner {
        WorkOwner(organization, .user, String(id))
    }

    /// Returns the owner for a static key of the object store.
    package static func staticKey(_ id: String) -> WorkOwner { WorkOwner(.staticKey(id), .staticKey, id) }

    /// Returns the owner for any other program, by a name.
    package static func program(_ name: String) -> WorkOwner { WorkOwner(nil, .program, name) }

    /// Returns the owner for callers who are not known yet.
    ///
    /// - Parameter address: their address, as `AddressRange.countedAsOne` has it.
    package static func address(_ address: String) -> WorkOwner { WorkOwner(.strangers, .address, address) }
}
