/// What a user may do in an organization; each role includes the ones before it.
public enum Role: String, Sendable, Hashable, CaseIterable, Comparable {
    /// Lists and downloads.
    case viewer
    /// Devices and keys beside that.
    case `operator`
    /// Everything in its organization.
    case admin

    private var rank: Int {
        switch self {
        case .viewer: 0
        case .operator: 1
        case .admin: 2
        }
    }

    public static func < (left: Role, right: Role) -> Bool {
        left.rank < right.rank
    }
}
