/// The party on whose behalf work is done, so that shared resources are divided fairly between parties.
package struct WorkOwner: Hashable, Sendable {
    /// The owner that the task works for; `nil` for the gateway itself, or for a caller who is not authenticated yet.
    @TaskLocal package static var current: WorkOwner?

    private enum Kind: UInt8 {
        case apiKey
        case organization
        case staticKey
        case other
    }

    private let kind: Kind
    private let id: String

    /// Returns the owner for a device or a site, by the id of its API key.
    package static func apiKey(_ id: String) -> WorkOwner { WorkOwner(kind: .apiKey, id: id) }

    /// Returns the owner for all users of an organization.
    package static func organization(_ id: Int64) -> WorkOwner { WorkOwner(kind: .organization, id: String(id)) }

    /// Returns the owner for a static key of the object store.
    package static func staticKey(_ id: String) -> WorkOwner { WorkOwner(kind: .staticKey, id: id) }

    /// Returns the owner for any other program, by a name.
    package static func other(_ name: String) -> WorkOwner { WorkOwner(kind: .other, id: name) }
}
