import Basics

/// How far the objects of each organization with retention rules were compared with them.
///
/// It is only in memory: after a start, and once a day for tags that were changed, objects are compared again.
final class RetentionWalks: Sendable {
    private static let interval = Duration.hours(24)

    struct Walk: Sendable {
        var place = AgePlace.start
        fileprivate let rules: RetentionRules
        fileprivate let startedAt = ContinuousClock.now
    }

    private struct Key: Hashable {
        let organizationID: Int64
        let days: Int32
    }

    private let walks = Lock<[Key: Walk]>([:])

    /// The walk to go on with; a new one where the rules changed, or the last one began long ago.
    func walk(organizationID: Int64, days: Int32, _ rules: RetentionRules) -> Walk {
        let known = walks.withLock { $0[Key(organizationID: organizationID, days: days)] }
        guard let known, known.rules == rules, ContinuousClock.now - known.startedAt < Self.interval else {
            return Walk(rules: rules)
        }
        return known
    }

    func keep(_ walk: Walk, organizationID: Int64, days: Int32) {
        walks.withLock { $0[Key(organizationID: organizationID, days: days)] = walk }
    }
}
