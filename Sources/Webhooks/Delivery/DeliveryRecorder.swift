import Basics
import Database

/// Records the results of attempts, those that end during a write together in the next one: however many webhooks there are, one write
/// at a time waits for the database's writer.
actor DeliveryRecorder {
    /// A result that is not recorded yet.
    private struct Entry {
        let result: DeliveryResult
        let continuation: CheckedContinuation<Void, any Error>
    }

    /// The largest number of results in one write, during which other writes wait for about a millisecond.
    private static let batch = 16

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
    }

    /// Returns when the result is recorded.
    func record(_ result: DeliveryResult) async throws {
        try await withCheckedThrowingContinuation { continuation in
            unrecorded += 1
            waiting.append(Entry(result: result, continuation: continuation))
            guard !isWriting else { return }
            isWriting = true
            Task { await writeAll() }
        }
    }

    private func writeAll() async {
        while !waiting.isEmpty {
            let batch = Array(waiting.prefix(Self.batch))
            waiting.removeFirst(batch.count)
            writes += 1
            let results = batch.map(\.result)
            let outcome: Result<Void, any Error>
            do {
                try await database.write(for: nil) { [metrics] connection in
                    let records = EventRecords(connection)
                    for result in results { try records.record(result) }
                    connection.afterCommit {
                        for result in results { metrics.note(result.outcome, of: result.webhook) }
                    }
                }
                outcome = .success(())
            } catch {
                outcome = .failure(error)
            }
            unrecorded -= batch.count
            for entry in batch { entry.continuation.resume(with: outcome) }
        }
        isWriting = false
    }
}
