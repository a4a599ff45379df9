/// What a user may do in an organization; each role includes the ones before it.
///
/// A service account is a program's, in the organization SYSTEM: it may do what an admin there may.
package enum Role: String, Sendable, Hashable, CaseIterable, Comparable {
    /// Lists and downloads.
    case viewer
    /// Devices and keys beside that.
    case `operator`
    /// Everything in its organization.
    case admin
    /// An admin that is no person: it has a system credential in the place of a password.
    case service

    private var rank: Int {
        switch self {
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
