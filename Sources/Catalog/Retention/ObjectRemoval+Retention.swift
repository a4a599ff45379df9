import Accounts
import Basics
import Database
import Synchronization

/// Removal by age, according to an organization's retention.
extension ObjectRemoval {
    /// The number of rows in one read.
    private static let chunk = 500
    /// The number of objects that a dry run names.
    private static let mostExamples = 10
    /// The limits of rows that one sweep, and a dry run, compare with an organization's rules.
    private static let (mostRowsOfASweep, mostRowsOfACount) = (200_000, 1_000_000)

    func retention(for caller: Caller) async throws -> RetentionRules {
        try await database.read { try ObjectRecords($0).retentionRules(organizationID: caller.organization.id) }
    }

    /// - Parameter keepsRules: whether only the default changes.
    /// - Returns: the resulting retention, and the objects that exceed it now, of which a dry run names the oldest. The next sweep
    ///   removes them, unless this was a dry run.
    func setRetention(
        _ requested: RetentionRules, keepsRules: Bool, isDryRun: Bool, by caller: Caller
    ) async throws -> (set: RetentionRules, affected: MatchCount, examples: [ExpiredObject]) {
        let now = clock.now()
        let organizationID = caller.organization.id
        var retention = requested
        if keepsRules { retention.rules = try await self.retention(for: caller).rules }
        let (affected, positions) = try await countExpired(retention, organizationID, at: now)
        if !isDryRun {
            try await database.write(mayUseReserve: true) { [retention] connection in
                try ObjectRecords(connection).setRetentionRules(
                    retention, organizationID: organizationID, keepsRules: keepsRules)
                let rules = keepsRules ? "" : "+\(retention.rules.count)"
                try Audit.record(caller.did(to: "retention/\(retention.days)\(rules)"), at: now, in: connection)
            }
        }
        guard isDryRun else { return (retention, affected, []) }
        let examples = try await database.readInBackground { connection in
            try ObjectRecords(connection).expiredObjects(at: positions)
        }
        return (retention, affected, examples)
    }

    /// - Returns: the count, and the positions of the first objects.
    private func countExpired(
        _ retention: RetentionRules, _ organizationID: Int64, at now: UnixTime
    ) async throws -> (count: MatchCount, first: [Int64]) {
        var count = MatchCount()
        var positions: [Int64] = []
        guard let youngest = retention.ages.first else { return (count, []) }
        guard !retention.rules.isEmpty else {
            (count.amount, positions) = try await database.readInBackground { connection in
                let records = ObjectRecords(connection)
                let limit = RetentionRules.limit(days: youngest, at: now)
                let (objects, bytes) = try records.countExpired(organizationID: organizationID, before: limit)
                return (
                    Amount(objects: objects, bytes: bytes),
                    try records.firstExpired(
                        organizationID: organizationID, before: limit, count: Self.mostExamples)
                )
            }
            return (count, positions)
        }
        let limits = Dictionary(
            uniqueKeysWithValues: retention.ages.map {
                ($0, RetentionRules.limit(days: $0, at: now).microseconds)
            })
        var (place, rows) = (AgePlace.start, 0)
        while !Task.isCancelled {
            guard rows < Self.mostRowsOfACount else {
                count.isLowerBound = true
                break
            }
            let (expired, last, isEnd) = try await database.readInBackground { [place] connection in
                let found = try ObjectRecords(connection).sizes(
                    organizationID: organizationID, before: RetentionRules.limit(days: youngest, at: now),
                    after: place, count: Self.chunk)
                let days = try retention.days(
                    at: found.map(\.place.position), organizationID: organizationID, in: connection)
                let expired = found.filter { one in
                    days[one.place.position].flatMap { limits[$0] }.map { one.countsFrom < $0 } ?? false
                }
                return (expired.map { ($0.place.position, $0.size) }, found.last?.place, found.count < Self.chunk)
            }
            count.amount.objects += Int64(expired.count)
            count.amount.bytes += expired.reduce(0) { $0 + $1.1 }
            positions += expired.prefix(Self.mostExamples - positions.count).map(\.0)
            rows += Self.chunk
            guard let last, !isEnd else { break }
            place = last
        }
        return (count, positions)
    }

    /// Removes objects beyond their organization's retention.
    ///
    /// - Returns: the number of objects.
    func applyRetention(_ permit: DeletionPermit) async throws -> Int {
        let organizations = try await database.read { try ObjectRecords($0).organizationsWithRetention() }
        var open: [Int64: RetentionSweep] = [:]
        return try await inTurns(organizations) { organizationID in
            if open[organizationID] == nil {
                let retention = try await database.read {
                    try ObjectRecords($0).retentionRules(organizationID: organizationID)
                }
                if !retention.rules.isEmpty { open[organizationID] = RetentionSweep(retention) }
            }
            guard var sweep = open[organizationID] else {
                let removed = try await removeExpired(of: organizationID, permit)
                return (removed, removed < batch)
            }
            let removed = try await applyRules(&sweep, organizationID, permit)
            open[organizationID] = sweep
            return (removed, sweep.ages.isEmpty)
        }
    }

    /// The part of a sweep that is left for an organization with rules.
    private struct RetentionSweep {
        let retention: RetentionRules
        /// The retentions in days whose objects have to be compared with the rules.
        var ages: ArraySlice<Int32>
        /// The number of rows that were compared for the first of them.
        var rows = 0

        init(_ retention: RetentionRules) {
            self.retention = retention
            ages = retention.ages[...]
        }
    }

    /// Continues to compare the objects of a certain age with the rules, the oldest first, and removes those whose retention ends
    /// at that age.
    private func applyRules(
        _ sweep: inout RetentionSweep, _ organizationID: Int64, _ permit: DeletionPermit
    ) async throws -> Int {
        guard let days = sweep.ages.first else { return 0 }
        let retention = sweep.retention
        var walk = walks.walk(organizationID: organizationID, days: days, retention)
        let (expired, last, isEnd) = try await database.readInBackground { [place = walk.place] connection in
            let found = try ObjectRecords(connection).aged(
                organizationID: organizationID, before: RetentionRules.limit(days: days, at: try permit.now()),
                after: place, permit, count: Self.chunk)
            let kept = try retention.days(
                at: found.map(\.position), organizationID: organizationID, in: connection)
            return (
                found.map(\.position).filter { kept[$0] == days }, found.last, found.count < Self.chunk
            )
        }
        var removed = 0
        for start in stride(from: 0, to: expired.count, by: batch) {
            let positions = Array(expired[start..<min(start + batch, expired.count)])
            removed += try await removeExpired(at: positions, retention, days: days, organizationID, permit)
        }
        if let last { walk.place = last }
        walks.keep(walk, organizationID: organizationID, days: days)
        sweep.rows += Self.chunk
        if isEnd || sweep.rows >= Self.mostRowsOfASweep { (sweep.ages, sweep.rows) = (sweep.ages.dropFirst(), 0) }
        return removed
    }

    private func removeExpired(
        at positions: [Int64], _ retention: RetentionRules, days: Int32, _ organizationID: Int64,
        _ permit: DeletionPermit
    ) async throws -> Int {
        try await database.write(mayUseReserve: true) { connection in
            let now = try permit.now()
            let records = ObjectRecords(connection)
            // Checked again in this transaction: the rules, the tags, and whether objects were restored.
            guard try records.retentionRules(organizationID: organizationID) == retention else { return 0 }
            let aged = try records.aged(
                at: positions, organizationID: organizationID,
                before: RetentionRules.limit(days: days, at: now), permit)
            let kept = try retention.days(at: aged.map(\.position), organizationID: organizationID, in: connection)
            let expired = aged.filter { kept[$0.position] == days }.map(\.object)
            try remove(expired, days: days, organizationID, at: now, in: connection)
            return expired.count
        }
    }

    /// - Returns: the number of objects; fewer than a batch if none is left.
    private func removeExpired(of organizationID: Int64, _ permit: DeletionPermit) async throws -> Int {
        try await database.write(mayUseReserve: true) { connection in
            let now = try permit.now()
            let records = ObjectRecords(connection)
            // Read again, because it may have changed since the sweep began.
            let retention = try records.retentionRules(organizationID: organizationID)
            guard retention.days > 0, retention.rules.isEmpty else { return 0 }
            let expired = try records.expired(
                Retention(organizationID: organizationID, days: retention.days), permit, count: batch)
            try remove(expired, days: retention.days, organizationID, at: now, in: connection)
            return expired.count
        }
    }

    private func remove(
        _ expired: [CatalogObject], days: Int32, _ organizationID: Int64, at now: UnixTime, in connection: Connection
    ) throws {
        guard !expired.isEmpty else { return }
        var entry = AuditEntry.byGateway("ApplyRetention", on: "retention/\(days)", count: expired.count)
        entry.organization = try Accounts.organization(organizationID, in: connection)
        try Audit.record(entry, at: now, in: connection)
        let order = Order(actor: entry.actor, reason: "older than \(days) days")
        let grace = try ObjectRecords(connection).trashGrace(organizationID: organizationID)
        for object in expired { try remove(object, order, grace, at: now, in: connection) }
    }
}

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
