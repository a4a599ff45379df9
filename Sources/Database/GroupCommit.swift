/// Takes a batch of writes through one transaction and one fsync, each write under its own savepoint.
///
/// A savepoint does not isolate from everything: SQLITE_FULL, IOERR and NOMEM inside one roll back the *whole*
/// transaction, the neighbours' rows with it (tried on 3.40.1). So nobody is answered before COMMIT returned, and when
/// the engine undid a batch each of its writes is run once more, alone, and fails or succeeds for itself.
struct GroupCommit {
    let connection: Connection

    /// - Throws: when a COMMIT failed so that nobody can say what the file holds. Every write was answered even then.
    func commit(_ batch: [any PendingWrite]) throws(DatabaseError) {
        do {
            try connection.execute("BEGIN IMMEDIATE")
            connection.expectsTransaction = true
            defer { connection.expectsTransaction = false }
            for write in batch { try savepoint(write) }
        } catch {
            return try retry(batch, after: error)
        }
        do {
            try connection.execute("COMMIT")
        } catch {
            guard error.leavesOutcomeOpen else { return try retry(batch, after: error) }
            for write in batch { write.answer(error) }
            throw error
        }
        for write in batch { write.answer(nil) }
    }

    private func savepoint(_ write: any PendingWrite) throws(DatabaseError) {
        try connection.execute("SAVEPOINT write")
        do {
            try write.run(on: connection)
        } catch {
            guard connection.isInTransaction else { throw error as? DatabaseError ?? .rolledBack }
            try connection.execute("ROLLBACK TO write")
        }
        // A body that caught the error and went on has nothing left to be committed.
        guard connection.isInTransaction else { throw .rolledBack }
        try connection.execute("RELEASE write")
    }

    /// After a transaction that came to nothing: each write once more, alone; one that was alone has failed.
    private func retry(_ batch: [any PendingWrite], after error: DatabaseError) throws(DatabaseError) {
        // Where this fails the next BEGIN does too, and says so.
        if connection.isInTransaction { _ = try? connection.execute("ROLLBACK") }
        if batch.count == 1 {
            for write in batch { write.answer(error) }
            return
        }
        for (index, write) in batch.enumerated() {
            do {
                try commit([write])
            } catch {
                for unwritten in batch[(index + 1)...] { unwritten.answer(DatabaseError.writerEnded) }
                throw error
            }
        }
    }
}
