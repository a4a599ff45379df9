/// On whose behalf something is done, where many wait for the same thing and nobody may take all of it.
package struct WorkOwner: Hashable, Sendable {
    /// The owner that the task works for; `nil` = the gateway itself, or a caller who is not authenticated yet.
    @TaskLocal package static var current: WorkOwner?

    private enum Kind: UInt8 {
        case apiKey
        case organization
        case staticKey
        case other
    }

    private let kind: Kind
    private let id: String

    /// A device or a site, by its key.
    package static func apiKey(_ id: String) -> WorkOwner { WorkOwner(kind: .apiKey, id: id) }

    /// All users of an organization.
    package static func organization(_ id: Int64) -> WorkOwner { WorkOwner(kind: .organization, id: String(id)) }

    /// A static key of the object store.
    package static func staticKey(_ id: String) -> WorkOwner { WorkOwner(kind: .staticKey, id: id) }

    /// A program that is neither, by a name.
    package static func other(_ name: String) -> WorkOwner { WorkOwner(kind: .other, id: name) }
}
