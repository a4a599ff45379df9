import Basics
import Database
import Synchronization

/// Deletes the rows of ended multipart uploads, and releases the own files of parts of completed ones, a few hundred in a
/// transaction, on a thread of its own.
///
/// Other writes get their turn between its transactions, however many rows a client made. Rows that are left after a crash or a
/// stop are still marked, and found by ``sweep()``.
final class Discards: Sendable {
    /// The number of parts, and of multipart uploads, that one transaction deletes: some milliseconds of work.
    static let batch = 256
    /// The number of rows that the transaction which ends an upload deletes itself: for most uploads, all of them.
    static let inline = 64

    private let database: Database
    private let removals: FileRemovals
    private let worker = Worker.serial("store.discards")
    private let isStopped = Lock(false)

    init(_ database: Database, _ removals: FileRemovals) {
        self.database = database
        self.removals = removals
    }

    /// Schedules the files of deleted rows and the remaining rows of `discarded` for removal after the commit of `transaction`.
    func finish(_ discarded: DiscardedRows, in transaction: Connection) throws {
        try removals.schedule(discarded.files, in: transaction)
        if !discarded.isDone { transaction.afterCommit { [weak self] in self?.resume() } }
    }

    /// Continues with all marked rows, without waiting for the end.
    func resume() {
        // Rows for which this fails are still marked, and the sweep tries again.
        worker.post { [self] in _ = try? run() }
    }

    /// Deletes all marked rows.
    ///
    /// - Returns: the number of deleted rows.
    func sweep() async throws -> Int {
        try await worker.runUnderLease { [self] in try run() }
    }

    /// Begins no further transaction; remaining rows are deleted after the next start.
    func stop() {
        isStopped.withLock { $0 = true }
    }

    /// Returns when every deletion requested so far was tried.
    func drain() {
        worker.drain()
    }

    private func run() throws -> Int {
        var rows = 0
        while !isStopped.withLock({ $0 }) {
            // Usually nothing is to be deleted, which a read can find out.
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
