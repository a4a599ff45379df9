/// Takes a batch of writes through one transaction and one fsync, each write under its own savepoint.
///
/// A savepoint does not isolate from everything: SQLITE_FULL, IOERR and NOMEM inside one roll back the *whole*
/// transaction, the neighbours' rows with it (tried on 3.40.1). So nobody is answered before COMMIT returned, and when
/// the engine undid a batch each of its writes is run once more, alone, and fails or succeeds for itself.
struct GroupCommit {
    /// The outcome of a commit is unknown: an fsync failed.
    struct Uncertain: Error {
        let cause: DatabaseError
        /// The writes of the batch that nobody has told yet.
        var unanswered: [any PendingWrite] = []
    }

    let connection: Connection
    let reserve: DiskReserve

    /// - Parameter mayRelease: whether a write that is alone and finds no space releases the reserve, and is tried once more.
    /// - Returns: whether the disk was found to be full.
    func commit(_ writes: [any PendingWrite], mayRelease: Bool = true) throws(Uncertain) -> Bool {
        let batch = admitted(writes)
        guard !batch.isEmpty else { return false }
        do {
            try connection.execute("BEGIN IMMEDIATE")
            connection.expectsTransaction = true
            defer { connection.expectsTransaction = false }
            for write in batch { try savepoint(write) }
        } catch {
            return try retry(batch, after: error, mayRelease)
        }
        do {
            try connection.execute("COMMIT")
        } catch {
            if error.leavesOutcomeOpen { throw Uncertain(cause: error, unanswered: batch) }
            return try retry(batch, after: error, mayRelease)
        }
        for write in batch {
            write.takeEffect()
            write.answer(nil)
        }
        return false
    }

    /// Answers those writes that the disk is too full for.
    ///
    /// - Returns: the others.
    private func admitted(_ writes: [any PendingWrite]) -> [any PendingWrite] {
        guard !reserve.admitsOrdinaryWrites() else { return writes }
        for write in writes where !write.mayUseReserve { write.answer(DatabaseError.full) }
        return writes.filter(\.mayUseReserve)
    }

    private func savepoint(_ write: any PendingWrite) throws(DatabaseError) {
        try connection.execute("SAVEPOINT write")
        do {
            try write.run(on: connection)
        } catch {
            if let error = error as? DatabaseError, error.isFailedSync { throw error }
            guard connection.isInTransaction else { throw error as? DatabaseError ?? .rolledBack }
            try connection.execute("ROLLBACK TO write")
        }
        // A body that caught the error and went on has nothing left to be committed.
        guard connection.isInTransaction else { throw .rolledBack }
        try connection.execute("RELEASE write")
    }

    /// Runs each write of a transaction that was rolled back once more, alone; one that was alone has failed.
    private func retry(
        _ batch: [any PendingWrite], after error: DatabaseError, _ mayRelease: Bool
    ) throws(Uncertain) -> Bool {
        // Also where no COMMIT was tried yet: a large transaction spills into the log before it ends.
        if error.isFailedSync { throw Uncertain(cause: error, unanswered: batch) }
        // Where this fails the next BEGIN does too, and says so.
        if connection.isInTransaction { _ = try? connection.execute("ROLLBACK") }
        // Another process holds the file: each would wait for it again, one after the other.
        if batch.count == 1 || error == .locked {
            // Once: where a quota is the limit, the disk has space, and the reserve is set aside again at once.
            if error == .full, mayRelease, reserve.release() {
                _ = try commit(batch, mayRelease: false)
                return true
            }
            for write in batch { write.answer(error) }
            return error == .full
        }
        var isFull = false
        for (index, write) in batch.enumerated() {
            do {
                isFull = try commit([write]) || isFull
            } catch {
                throw Uncertain(cause: error.cause, unanswered: error.unanswered + batch[(index + 1)...])
            }
        }
        return isFull
    }
}
