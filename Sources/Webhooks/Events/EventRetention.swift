import Basics
import Database

/// Limits the outbox: ended deliveries are removed after a while, and the oldest ones beyond a maximum.
struct EventRetention: Sendable {
    /// The number of deliveries in one transaction, during which other writes wait.
    private static let batch = 500

    let database: Database
    let clock: any WallClock
    let configuration: WebhooksConfiguration
    let log: Logger

    /// - Parameter permit: `nil` = nothing is removed by its age, only deliveries beyond a maximum.
    /// - Returns: the number of removed deliveries.
    func run(_ permit: DeletionPermit?) async throws -> Int {
        let now = clock.now()
        for webhook in configuration.webhooks.map(\.name) {
            let excess = try await database.read { connection in
                try EventRecords(connection).excess(
                    of: webhook, state: 1, count: configuration.maximumPending, bytes: configuration.maximumBytes)
            }
            for (organizationID, count) in excess {
                try await giveUp(
                    pendingFor: webhook, of: organizationID, count: count, because: "too many events were waiting",
                    at: now)
            }
        }
        var removed = 0
        if let permit {
            removed += try await forget(.delivered, olderThan: configuration.deliveredRetention, permit)
            removed += try await forget(.dead, olderThan: configuration.deadLetterRetention, permit)
        }
        for webhook in configuration.webhooks.map(\.name) {
            removed += try await forgetDeadLetters(of: webhook)
        }
        return removed
    }

    /// Makes dead letters of events that wait for webhooks no longer in the configuration.
    func giveUpUnknown() async throws {
        let now = clock.now()
        let known = Set(configuration.webhooks.map(\.name))
        for webhook in try await database.read({ try EventRecords($0).webhooksWithPending() })
        where !known.contains(webhook) {
            try await giveUp(
                pendingFor: webhook, count: .max, because: "the configuration has no webhook with this name", at: now)
        }
    }

    private func giveUp(
        pendingFor webhook: String, of organizationID: Int64? = nil, count: Int64, because reason: String,
        at now: UnixTime
    ) async throws {
        var left = count
        while left > 0 {
            try Task.checkCancellation()
            let limit = min(left, Int64(Self.batch))
            let given = try await database.write(mayUseReserve: true) {
                try EventRecords($0).giveUp(
                    pendingFor: webhook, of: organizationID, limit: limit, because: reason, at: now)
            }
            for id in given { log.writeDeadLetter(id, of: webhook, because: reason) }
            guard given.count == limit else { return }
            left -= limit
        }
    }

    private func forget(
        _ end: DeliveryEnd, olderThan age: Duration, _ permit: DeletionPermit
    ) async throws -> Int {
        try await inBatches { try EventRecords($0).forget(end, olderThan: age, permit, limit: Self.batch) }
    }

    private func forgetDeadLetters(of webhook: String) async throws -> Int {
        let excess = try await database.read { connection in
            try EventRecords(connection).excess(
                of: webhook, state: DeliveryEnd.dead.rawValue, count: configuration.maximumDeadLetters,
                bytes: configuration.maximumBytes)
        }
        var removed = 0
        for (organizationID, count) in excess {
            var left = Int(count)
            while left > 0 {
                try Task.checkCancellation()
                let limit = Int64(min(left, Self.batch))
                let count = try await database.write(mayUseReserve: true) {
                    try EventRecords($0).forgetDeadLetters(of: webhook, organizationID: organizationID, limit: limit)
                }
                guard count > 0 else { break }
                (removed, left) = (removed + count, left - count)
            }
        }
        return removed
    }

    private func inBatches(_ body: @escaping @Sendable (Connection) throws -> Int) async throws -> Int {
        var (sum, count) = (0, Self.batch)
        while count == Self.batch {
            try Task.checkCancellation()
            count = try await database.write(mayUseReserve: true, body)
            sum += count
        }
        return sum
    }
}
