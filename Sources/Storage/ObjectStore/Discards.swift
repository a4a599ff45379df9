import Basics
import Database
import Dispatch

/// Deletes the rows of multipart uploads that have ended, and releases the files that parts of completed ones had, a few hundred
/// in a transaction, on a thread of its own.
///
/// Between two of its transactions everybody else's writes have their turn, however many rows a client made. What a crash
/// or a stop leaves is still marked, and is found by ``sweep()``.
final class Discards: Sendable {
    /// Parts, and multipart uploads, that one transaction deletes here: some milliseconds.
    static let batch = 256
    /// Rows that the transaction which ends an upload deletes itself: all of them for most uploads.
    static let inline = 64

    private let database: Database
    private let removals: FileRemovals
    private let queue = DispatchQueue(label: "store.discards")
    private let isStopped = Lock(false)

    init(_ database: Database, _ removals: FileRemovals) {
        self.database = database
        self.removals = removals
    }

    /// Has the files go whose rows `discarded` deleted, and the rows that it left, once `transaction` has committed.
    func finish(_ discarded: StoreRecords.Discarded, in transaction: Connection) throws {
        try removals.schedule(discarded.files, in: transaction)
        if !discarded.isDone { transaction.afterCommit { [weak self] in self?.resume() } }
    }

    /// Goes on with all that is marked, without waiting for it.
    func resume() {
        // What fails now is still marked, and is tried again by the sweep.
        queue.async { [self] in _ = try? run() }
    }

    /// Deletes all that is marked.
    ///
    /// - Returns: how many rows it deleted.
    func sweep() async throws -> Int {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in continuation.resume(with: Result { try run() }) }
        }
    }

    /// Begins no further transaction; what is left goes after the next start.
    func stop() {
        isStopped.withLock { $0 = true }
    }

    /// Returns when every deletion asked for so far was tried.
    func drain() {
        queue.sync {}
    }

    private func run() throws -> Int {
        var rows = 0
        while !isStopped.withLock({ $0 }) {
            // Most of the time there is none, which takes no write to see.
            let hasMore = try database.readBlocking {
                try StoreRecords($0).hasDiscards() || StoreRecords($0).hasReleases()
            }
            guard hasMore else { break }
            rows += try database.writeBlocking(mayUseReserve: true) { [removals] connection in
                let records = StoreRecords(connection)
                let discarded = try records.continueDiscard(limit: Self.batch)
                guard let next = try discarded ?? records.continueRelease(limit: Self.batch) else { return 0 }
                try removals.schedule(next.files, in: connection)
                return next.rows
            }
        }
        return rows
    }
}
