/// Commits a batch of writes in one transaction with one fsync, each write under its own savepoint unless it is alone.
///
/// A savepoint does not isolate from all errors: SQLITE_FULL, IOERR and NOMEM inside one roll back the *whole* transaction,
/// including the rows of other writes (tested with 3.40.1). So no write gets its result before COMMIT has returned, and if the
/// engine rolled a batch back, each of its writes is repeated alone.
///
/// A transaction on a server blocks the writers of other programs, so it ends after some writes or some time. If its connection is
/// lost before it is committed, the same batch runs once more on another one.
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

    /// - Parameter mayRepeat: whether writes run again after the reserve was released, or the connection was lost.
    /// - Returns: whether the disk was full.
    func commit(_ writes: [any PendingWrite], mayRepeat: Bool = true) throws(Uncertain) -> Bool {
        var batch = admitted(writes)
        guard !batch.isEmpty else { return false }
        var rest: ArraySlice<any PendingWrite> = []
        do {
            try connection.session.begin()
            if batch.count == 1 {
                try run(batch[0], rollback: "ROLLBACK")
            } else {
                let count = try runAll(batch)
                if count < batch.count {
                    rest = batch[count...]
                    batch.removeLast(batch.count - count)
                }
            }
        } catch {
            return try retry(batch, after: error, mayRepeat)
        }
        let isFull = try commitTransaction(of: batch, mayRepeat)
        return rest.isEmpty ? isFull : try commit(Array(rest)) || isFull
    }

    private func commitTransaction(of batch: [any PendingWrite], _ mayRepeat: Bool) throws(Uncertain) -> Bool {
        do {
            if connection.isInTransaction { try connection.session.commit() }
        } catch .outcomeUnknown {
            for write in batch { write.finish(DatabaseError.outcomeUnknown) }
            return false
        } catch {
            if error.leavesOutcomeOpen { throw Uncertain(cause: error, unanswered: batch) }
            return try retry(batch, after: error, mayRepeat)
        }
        for write in batch {
            write.takeEffect()
            write.finish(nil)
        }
        return false
    }

    /// Runs writes, each under its savepoint.
    ///
    /// - Returns: the number of those that have run: all with SQLite, and at least one.
    private func runAll(_ batch: [any PendingWrite]) throws(DatabaseError) -> Int {
        let end = connection.session.batchTime.map { ContinuousClock.now + $0 }
        for (index, write) in batch.enumerated() {
            if index > 0, let end, ContinuousClock.now >= end { return index }
            try savepoint(write)
        }
        return batch.count
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
        try connection.session.controlSoon("SAVEPOINT write")
        try run(write, rollback: "ROLLBACK TO write")
        try connection.session.controlSoon("RELEASE write")
    }

    /// - Parameter rollback: the statement that undoes what a failed write has done.
    private func run(_ write: any PendingWrite, rollback: String) throws(DatabaseError) {
        do {
            try write.run(on: connection)
        } catch {
            if let error = error as? DatabaseError, error.isFailedSync || error.isLoss { throw error }
            guard connection.isInTransaction else { throw error as? DatabaseError ?? .rolledBack }
            try connection.session.control(rollback)
        }
    }

    /// Repeats each write of a transaction that was rolled back alone; a write that was alone has failed. If the connection was lost,
    /// repeats all together.
    private func retry(
        _ batch: [any PendingWrite], after error: DatabaseError, _ mayRepeat: Bool
    ) throws(Uncertain) -> Bool {
        // Also before a COMMIT: a large transaction writes to the log before its end.
        if error.isFailedSync { throw Uncertain(cause: error, unanswered: batch) }
        // If this fails, the next BEGIN fails, too, and reports it.
        if connection.isInTransaction { _ = try? connection.session.control("ROLLBACK") }
        if error.isLoss, mayRepeat { return try commit(batch, mayRepeat: false) }
        // Another process has locked the file, or the server is away: each write would wait again, one after the other.
        if batch.count == 1 || error == .locked || error.isLoss {
            // Only once: if a quota is the limit, the disk has space, and the reserve is set aside again at once.
            if error == .full, mayRepeat, reserve?.release() == true {
                _ = try commit(batch, mayRepeat: false)
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
