/// The rights of a user in an organization; each role includes the ones before it.
///
/// A service account belongs to a program in the organization SYSTEM and has the rights of an admin there.
package enum Role: String, Sendable, Hashable, CaseIterable, Comparable {
    /// May call nothing of the gateway's own. Members are users of the applications that run beside it.
    case member
    /// May list and download.
    case viewer
    /// May also manage devices and keys.
    case `operator`
    /// May do everything in its organization.
    case admin
    /// An admin for programs, with a system credential instead of a password.
    case service

    private var rank: Int {
        switch self {
        case .member: -1
        case .viewer: 0
        case .operator: 1
        case .admin: 2
        case .service: 3
        }
    }

    package static func < (left: Role, right: Role) -> Bool {
        left.rank < right.rank
    }
}
