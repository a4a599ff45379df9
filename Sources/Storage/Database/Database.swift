import Basics
import Dispatch
import Glibc

/// The metadata of a gateway: one SQLite file in WAL mode.
///
/// One thread writes, in groups; reads run where they are asked, on read-only connections. A write that was answered
/// survives `kill -9` and power loss, and every read that starts after the answer sees it.
package final class Database: Sendable {
    /// The bounds of what waits and what is kept.
    package struct Options: Sendable {
        /// Writes that may wait for the writer; more are refused as ``DatabaseError/overloaded``. One owner's may be a
        /// quarter of these.
        package var waitingWrites = 4096
        /// Writes that one transaction takes.
        package var batchedWrites = 256
        /// Unused read connections that stay open.
        package var parkedReaders = 16
        /// Pages of write-ahead log after which the writer checkpoints, between two batches. A page is 4 KiB.
        package var checkpointPages = 1000
        /// Disk space that is kept for writes with `mayUseReserve`, in a file `reserve` beside the database; bytes, 0 = none.
        package var reserveBytes: Int64 = 0
        /// Bytes that have to be free beyond twice the reserve before it is set aside.
        package var reserveMargin: Int64 = 0
        /// Called with `false` when the reserve was released because the disk is full, and with `true` when it was set aside
        /// again; by any thread.
        package var onReserveChange: @Sendable (Bool) -> Void = { _ in }
        /// Called once, on the writer's thread, when a commit or a checkpoint failed so that no write is taken any more.
        package var onWriterEnded: @Sendable (DatabaseError) -> Void = { _ in }

        package init() {}
    }

    private let writer: Writer
    private let reserve: DiskReserve
    private let readers: ReaderPool
    private let background = DispatchQueue(label: "database.background")

    /// Opens the file at `path`, creates it (mode 0600) where there is none, and applies `migrations`.
    ///
    /// Where the process before this one did not come to its end, what it left in the log is made durable and moved into
    /// the file first: nothing is read, written or removed on the word of what only the page cache may hold.
    ///
    /// - Throws: ``DatabaseError``, also where that fails: the file must not be used then.
    package init(path: String, migrations: [Migration], options: Options = Options()) throws {
        let reserve = DiskReserve(
            path: Path.sibling("reserve", of: path), size: options.reserveBytes, margin: options.reserveMargin,
            onChange: options.onReserveChange)
        let connection = try reserve.retrying { try Self.open(path, migrations) }
        self.reserve = reserve
        writer = Writer(
            connection: connection, queue: WriteQueue(capacity: options.waitingWrites, batch: options.batchedWrites),
            reserve: reserve, checkpointPages: options.checkpointPages,
            onEnd: options.onWriterEnded)
        readers = ReaderPool(path: path, capacity: options.parkedReaders)
    }

    private static func open(_ path: String, _ migrations: [Migration]) throws -> sending Connection {
        // SQLite would create it with the process's umask, and gives the log the mode of the file.
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        if descriptor >= 0 { Glibc.close(descriptor) }
        let log = WriteAheadLog(of: path)
        let isUnclean = try log.makeDurable()
        let connection = try Connection(path: path, mode: .writer)
        if isUnclean { try connection.recover(log) }
        try connection.migrate(migrations)
        // SQLite syncs the name of a log that it makes, and passes over a failure of that.
        try log.synchronizeFolder()
        return connection
    }

    deinit {
        // Without waiting: the last reference may be one that a write held, and then this is the writer's thread.
        writer.queue.close(refusing: .closed)
    }

    /// Runs `body` in a transaction and returns when it is on disk. Whatever `body` throws undoes it.
    ///
    /// Read in `body` what the write depends on. `body` shares its transaction with other writes and may be run a
    /// second time when the engine rolled a group back: it must touch nothing but the connection, and asks
    /// ``Connection/afterCommit(_:)`` for whatever is to follow from the commit. A body that asks the database again traps.
    ///
    /// - Parameters:
    ///   - isolation: what `body` sees of transactions that run at the same time.
    ///   - owner: as whom the write waits for its turn.
    ///   - mayUseReserve: whether it is taken, too, once the disk was full and until there is space again: for a write that
    ///     deletes, or without which nobody can ask for that. Others are refused with ``DatabaseError/full`` meanwhile.
    package func write<T: Sendable>(
        _ isolation: Isolation = .serializable, for owner: WorkOwner? = .current, mayUseReserve: Bool = false,
        _ body: @escaping @Sendable (Connection) throws -> T
    ) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            submit(isolation: isolation, for: owner, mayUseReserve: mayUseReserve, body) {
                continuation.resume(with: $0)
            }
        }
    }

    /// Does the same as ``write(_:)`` for a thread that may block: never an event loop's, and never the writer's own, where it traps.
    package func writeBlocking<T: Sendable>(
        _ isolation: Isolation = .serializable, for owner: WorkOwner? = .current, mayUseReserve: Bool = false,
        _ body: @escaping @Sendable (Connection) throws -> T
    ) throws -> T {
        precondition(
            !ThreadMark.writer.isSet(to: identity), "A database's own writer cannot wait for another write of it.")
        let reply = Lock<Result<T, any Error>?>(nil)
        let answered = DispatchSemaphore(value: 0)
        submit(isolation: isolation, for: owner, mayUseReserve: mayUseReserve, body) { result in
            reply.withLock { $0 = result }
            answered.signal()
        }
        answered.wait()
        guard let result = reply.withLock({ $0 }) else { throw DatabaseError.closed }
        return try result.get()
    }

    /// The same as ``write(_:)``, for a write that no caller waits for. Calls `reply` exactly once: on the writer's
    /// thread after the commit, or at once when the write is refused; it must be quick.
    package func submit<T: Sendable>(
        isolation: Isolation = .serializable, for owner: WorkOwner? = .current, mayUseReserve: Bool = false,
        _ body: @escaping @Sendable (Connection) throws -> T,
        reply: @escaping @Sendable (Result<T, any Error>) -> Void
    ) {
        preconditionOutside()
        let identity = identity
        do {
            let marked = { @Sendable connection in try ThreadMark.closure.with(identity) { try body(connection) } }
            try writer.queue.add(Write(mayUseReserve: mayUseReserve, marked, reply: reply), for: owner)
        } catch {
            reply(.failure(error))
        }
    }

    func submit(_ copy: DatabaseCopy) throws(DatabaseError) {
        try writer.queue.add(copy)
    }

    /// Runs `body` on one snapshot of everything that was committed when its first statement began. A body that asks the
    /// database again traps: it would see another snapshot.
    ///
    /// For handlers: what a loop runs may wait here, and the engine chooses where `body` runs. SQLite's runs it in place, which
    /// costs no change of threads, so it must be a read that an index serves and that a page bounds; whatever may take longer
    /// than a millisecond is for ``readInBackground(_:)``.
    package nonisolated(nonsending) func read<T: Sendable>(
        _ body: @Sendable (Connection) throws -> T
    ) async throws -> T {
        try readBlocking(body)
    }

    /// Does the same as ``read(_:)`` for a thread that may block, such as one of the HTTP server or one that the caller started:
    /// never an event loop's.
    package func readBlocking<T>(_ body: (Connection) throws -> T) throws -> T {
        preconditionOutside()
        return try readers.withConnection { connection in
            try connection.execute("BEGIN")
            let value: T
            do {
                value = try ThreadMark.closure.with(identity) { try body(connection) }
            } catch {
                if connection.isInTransaction { try connection.execute("ROLLBACK") }
                throw error
            }
            try connection.execute("COMMIT")
            return value
        }
    }

    /// Does the same as ``read(_:)`` on a thread of its own, for a read that may take longer than a millisecond: one that counts,
    /// sums or lists rows without a bound. One runs at a time, so that whoever asks for many does not take the cores from the
    /// loops.
    package func readInBackground<T: Sendable>(
        _ body: @escaping @Sendable (Connection) throws -> T
    ) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            background.async { continuation.resume(with: Result { try self.readBlocking(body) }) }
        }
    }

    private var identity: ObjectIdentifier { ObjectIdentifier(writer.queue) }

    private func preconditionOutside() {
        precondition(
            !ThreadMark.closure.isSet(to: identity),
            "A closure that runs in a database's transaction asked the same database again: use its connection.")
    }

    /// How many writes wait for the writer now.
    package var waitingWrites: Int {
        writer.queue.count
    }

    /// Whether the disk was full and what is free now is kept for writes that may use the reserve. Sets the reserve aside again
    /// where there is space.
    package var isReserveReleased: Bool { !reserve.admitsOrdinaryWrites() }

    /// Sets the reserve aside where it is not and there is space; to be called every few minutes.
    package func restoreReserve() { reserve.restore() }

    /// Whether writes are taken: `false` after ``close()``, and after a commit that failed with an I/O error.
    package var isWritable: Bool {
        writer.queue.refusal == nil
    }

    /// Refuses new work, commits the writes that wait, and returns when the file is closed. Not from inside a write.
    package func close() {
        readers.close()
        writer.stop()
    }
}
