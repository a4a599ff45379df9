import Basics
import Database

/// Records the results of attempts, those that end during a write together in the next one: however many webhooks there are, one write
/// at a time waits for the database's writer.
actor DeliveryRecorder {
    /// A result that is not recorded yet.
    private struct Entry {
        let result: DeliveryResult
        /// The right to send to the webhook.
        let lease: Lease?
        let continuation: CheckedContinuation<Void, any Error>
    }

    /// The largest number of results in one write, during which other writes wait for about a millisecond.
    private static let batch = 16

    nonisolated let pauses: WebhookPauses
    private let database: Database
    private let metrics: EventMetrics
    private var waiting: [Entry] = []
    /// The number of results that are not recorded yet.
    private(set) var unrecorded = 0
    private var isWriting = false
    /// The number of writes so far.
    private(set) var writes = 0

    init(_ database: Database, metrics: EventMetrics) {
        self.database = database
        self.metrics = metrics
        pauses = metrics.pauses
    }

    /// Returns when the result is recorded, under the lease of the calling task.
    ///
    /// - Throws: ``LeaseLost`` if another gateway may send to the webhook, and so the event again.
    func record(_ result: DeliveryResult) async throws {
        try await withCheckedThrowingContinuation { continuation in
            unrecorded += 1
            waiting.append(Entry(result: result, lease: Lease.current, continuation: continuation))
            guard !isWriting else { return }
            isWriting = true
            // A write has the results of several webhooks, each with its own lease.
            Lease.$current.withValue(nil) { _ = Task { await writeAll() } }
        }
    }

    private func writeAll() async {
        while !waiting.isEmpty {
            let batch = Array(waiting.prefix(Self.batch))
            waiting.removeFirst(batch.count)
            writes += 1
            let outcomes: [Result<Void, any Error>]
            do {
                outcomes = try await write(batch.map { ($0.result, $0.lease) })
            } catch {
                outcomes = batch.map { _ in .failure(error) }
            }
            unrecorded -= batch.count
            for (entry, outcome) in zip(batch, outcomes) { entry.continuation.resume(with: outcome) }
        }
        isWriting = false
    }

    private func write(_ results: [(result: DeliveryResult, lease: Lease?)]) async throws -> [Result<Void, any Error>] {
        try await database.write(for: nil) { [metrics] connection in
            var isHeld: [ObjectIdentifier: Bool] = [:]
            var recorded: [DeliveryResult] = []
            var outcomes: [Result<Void, any Error>] = []
            for (result, lease) in results {
                if let lease {
                    let isOwn = try isHeld[ObjectIdentifier(lease)] ?? lease.isHeld(in: connection)
                    isHeld[ObjectIdentifier(lease)] = isOwn
                    guard isOwn else {
                        outcomes.append(.failure(LeaseLost(name: lease.name)))
                        continue
                    }
                }
                try EventRecords(connection).record(result)
                recorded.append(result)
                outcomes.append(.success(()))
            }
            connection.afterCommit { [recorded] in
                for result in recorded { metrics.note(result.outcome, of: result.webhook) }
            }
            return outcomes
        }
    }
}
