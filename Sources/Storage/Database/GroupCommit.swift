/// Commits a batch of writes in one transaction with one fsync, each write under its own savepoint unless it is alone.
///
/// A savepoint does not isolate from all errors: SQLITE_FULL, IOERR and NOMEM inside one roll back the *whole* transaction,
/// including the rows of other writes (tested with 3.40.1). So no write gets its result before COMMIT has returned, and if the
/// engine rolled a batch back, each of its writes is repeated alone.
struct GroupCommit {
    /// The outcome of a commit is unknown, because an fsync failed.
    struct Uncertain: Error {
        let cause: DatabaseError
        /// The writes that may be on disk, and have not got their results.
        var unanswered: [any PendingWrite] = []
    }

    let connection: Connection
    /// `nil` for a database on a server.
    let reserve: DiskReserve?

    /// - Parameter mayRelease: whether a single write without space releases the reserve and is repeated.
    /// - Returns: whether the disk was full.
    func commit(_ writes: [any PendingWrite], mayRelease: Bool = true) throws(Uncertain) -> Bool {
        let batch = admitted(writes)
        guard !batch.isEmpty else { return false }
        do {
            try connection.session.begin()
            if batch.count == 1 {
                try run(batch[0], rollback: "ROLLBACK")
            } else {
                for write in batch { try savepoint(write) }
            }
        } catch {
            return try retry(batch, after: error, mayRelease)
        }
        do {
            if connection.isInTransaction { try connection.session.commit() }
        } catch {
            if error.leavesOutcomeOpen { throw Uncertain(cause: error, unanswered: batch) }
            return try retry(batch, after: error, mayRelease)
        }
        for write in batch {
            write.takeEffect()
            write.finish(nil)
        }
        return false
    }

    /// Refuses the writes for which the disk is too full.
    ///
    /// - Returns: the others.
    private func admitted(_ writes: [any PendingWrite]) -> [any PendingWrite] {
        guard let reserve, !reserve.admitsOrdinaryWrites() else { return writes }
        for write in writes where !write.mayUseReserve { write.finish(DatabaseError.full) }
        return writes.filter(\.mayUseReserve)
    }

    private func savepoint(_ write: any PendingWrite) throws(DatabaseError) {
        try connection.session.control("SAVEPOINT write")
        try run(write, rollback: "ROLLBACK TO write")
        try connection.session.control("RELEASE write")
    }

    /// - Parameter rollback: the statement that undoes what a failed write has done.
    private func run(_ write: any PendingWrite, rollback: String) throws(DatabaseError) {
        do {
            try write.run(on: connection)
        } catch {
            if let error = error as? DatabaseError, error.isFailedSync { throw error }
            guard connection.isInTransaction else { throw error as? DatabaseError ?? .rolledBack }
            try connection.session.control(rollback)
        }
    }

    /// Repeats each write of a transaction that was rolled back alone; a write that was alone has failed.
    private func retry(
        _ batch: [any PendingWrite], after error: DatabaseError, _ mayRelease: Bool
    ) throws(Uncertain) -> Bool {
        // Also before a COMMIT: a large transaction writes to the log before its end.
        if error.isFailedSync { throw Uncertain(cause: error, unanswered: batch) }
        // If this fails, the next BEGIN fails, too, and reports it.
        if connection.isInTransaction { _ = try? connection.session.control("ROLLBACK") }
        // Another process has locked the file: each write would wait for it again, one after the other.
        if batch.count == 1 || error == .locked {
            // Only once: if a quota is the limit, the disk has space, and the reserve is set aside again at once.
            if error == .full, mayRelease, reserve?.release() == true {
                _ = try commit(batch, mayRelease: false)
                return true
            }
            for write in batch { write.finish(error) }
            return error == .full
        }
        var isFull = false
        for (index, write) in batch.enumerated() {
            do {
                isFull = try commit([write]) || isFull
            } catch {
                // The others were rolled back.
                for write in batch[(index + 1)...] { write.finish(DatabaseError.writerEnded) }
                throw error
            }
        }
        return isFull
    }
}
