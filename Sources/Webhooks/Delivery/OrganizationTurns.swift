import Basics

/// The deliveries to one webhook in progress, and the turns of the organizations whose events it receives: no organization
/// occupies all of the webhook's requests, and those that wait are served one after the other. Pure.
struct OrganizationTurns: Sendable {
    /// The organizations of the deliveries that are being sent or recorded, by position.
    private var organizations: [Int64: Int64] = [:]
    /// The number of deliveries that are being sent or recorded, by organization.
    private var counts: [Int64: Int] = [:]
    /// The number of requests in progress, by organization.
    private var requests: [Int64: Int] = [:]
    /// The organization whose turn was the latest.
    private var last = Int64.min
    /// The largest number of requests of one organization.
    private let share: Int

    /// - Parameters:
    ///   - slots: the number of parallel requests to the webhook.
    ///   - isShared: whether it receives the events of several organizations. One of them may have three quarters of the requests.
    init(slots: Int, isShared: Bool) {
        share = isShared ? max(1, slots * 3 / 4) : slots
    }

    /// The number of deliveries that are being sent or recorded.
    var count: Int { organizations.count }

    /// The number of deliveries of an organization that are being sent or recorded.
    func inProgress(of organization: Int64) -> Int { counts[organization, default: 0] }

    mutating func begin(_ delivery: Delivery) {
        organizations[delivery.position] = delivery.organizationID
        counts[delivery.organizationID, default: 0] += 1
        requests[delivery.organizationID, default: 0] += 1
        last = delivery.organizationID
    }

    /// Ends a request; its result is not recorded yet.
    mutating func endRequest(_ delivery: Delivery) { Self.remove(delivery.organizationID, from: &requests) }

    /// Ends a delivery whose request ended before.
    mutating func end(_ delivery: Delivery) {
        organizations[delivery.position] = nil
        Self.remove(delivery.organizationID, from: &counts)
    }

    private static func remove(_ organization: Int64, from counts: inout [Int64: Int]) {
        guard let count = counts[organization] else { return }
        counts[organization] = count > 1 ? count - 1 : nil
    }

    /// A choice of deliveries that begin together. Organizations are looked at in the order of their ids, from the one after the latest
    /// turn on.
    struct Round: Sendable {
        private let turns: OrganizationTurns
        private let limit: Int
        /// The organization that was looked at last.
        private var seen: Int64
        private var hasWrapped = false
        /// The due positions of each organization that may begin.
        private var candidates: [[Int64]] = []
        /// The earliest time at which a delivery becomes due that is not yet.
        private(set) var nextDueAt: UnixTime?

        init(_ turns: OrganizationTurns, limit: Int) {
            self.turns = turns
            self.limit = limit
            seen = turns.last
        }

        /// The ids among which the next organization is: above `after`, up to `through`; `nil` if none is needed.
        var unseen: (after: Int64, through: Int64)? {
            guard candidates.count < limit else { return nil }
            if !hasWrapped { return (seen, .max) }
            return seen < turns.last ? (seen, turns.last) : nil
        }

        /// Continues with the lowest ids, because no organization is left above.
        mutating func wrap() {
            seen = hasWrapped ? turns.last : .min
            hasWrapped = true
        }

        /// - Parameters:
        ///   - due: positions of deliveries that are due, in their order, also of those in progress.
        ///   - next: the earliest time of one that is not due yet.
        mutating func add(_ organization: Int64, due: [Int64], next: UnixTime?) {
            seen = organization
            if let next { nextDueAt = min(nextDueAt ?? next, next) }
            let free = max(0, turns.share - turns.requests[organization, default: 0])
            let found = due.filter { turns.organizations[$0] == nil }.prefix(min(limit, free))
            if !found.isEmpty { candidates.append(Array(found)) }
        }

        /// The positions that begin: the first of each organization, then the second of each.
        var chosen: [Int64] {
            let longest = candidates.map(\.count).max() ?? 0
            let inTurns = (0..<longest).flatMap { turn in candidates.compactMap { turn < $0.count ? $0[turn] : nil } }
            return Array(inTurns.prefix(limit))
        }
    }
}
