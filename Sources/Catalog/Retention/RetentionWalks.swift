import Basics
import Synchronization

/// The progress of comparing each organization's objects with its retention rules.
///
/// It is only in memory: objects are compared again after a start, and once a day because their tags may change.
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

    /// Returns the walk to continue; a new one if the rules changed, or the last one began long ago.
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
