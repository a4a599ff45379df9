package import Basics
import Dispatch
import FoundationEssentials
import Glibc
import Synchronization

/// The metadata of a gateway: one SQLite file in WAL mode, or a schema on a PostgreSQL server.
///
/// One thread writes, in groups; reads run on read-only connections: SQLite's on the caller's thread, PostgreSQL's on threads that
/// wait for the server. An acknowledged write survives `kill -9` and power loss, and every read that starts after the
/// acknowledgement sees it.
package final class Database: Sendable {
    /// The limits of queues and caches.
    package struct Options: Sendable {
        /// The number of writes that may wait for the writer; further ones fail with ``DatabaseError/overloaded``. One organization
        /// may have a quarter of them, and one owner half of that.
        package var waitingWrites = 4096
        /// The largest number of writes in one transaction.
        package var batchedWrites = 256
        /// The number of reads that may take longer than a millisecond and run at once: all processors but one, and at least one.
        package var backgroundReads = max(1, ProcessInfo.processInfo.activeProcessorCount - 1)
        /// The number of unused read connections that stay open.
        package var parkedReaders = 16
        /// The number of log pages after which the writer checkpoints, between two batches. A page is 4 KiB.
        package var checkpointPages = 1000
        /// Disk space that is reserved for writes with `mayUseReserve`, in a file `reserve` beside the database; in bytes, 0 =
        /// none.
        package var reserveBytes: Int64 = 0
        /// The number of bytes that have to be free beyond twice the reserve before it is set aside.
        package var reserveMargin: Int64 = 0
        /// Called with `false` when the reserve was released because the disk is full, and with `true` when it was set aside again;
        /// on any thread.
        package var onReserveChange: @Sendable (Bool) -> Void = { _ in }
        /// The time between checkpoints of a log that a reader holds.
        package var blockedLogRetry = Duration.seconds(5)
        /// The time for which another program may hold the log until ``onLogChange`` reports it.
        package var blockedLogTimeout = Duration.seconds(60)
        /// Called when another program keeps the write-ahead log from starting over, and when it no longer does; on the writer's thread.
        package var onLogChange: @Sendable (LogChange) -> Void = { _ in }
        /// Whether other processes may write to the database, of whose commits no signal of this process is notified.
        package var isShared = false
        /// Whether the state of a server is looked at every 15 seconds, see ``Database/serverSample``.
        package var samplesServer = false
        /// The clock that is compared with a server's.
        package var clock: any WallClock = SystemClock()
        /// Called once, on a thread of its own, when another program has taken the right to a database on a server.
        package var onLeaseLoss: @Sendable () -> Void = {}
        /// Called before each read, and before each write that blocks its caller, on the caller's thread; tests stop callers there.
        package var onCall: (@Sendable () -> Void)?
        /// Called once, on the writer's thread, after a commit or a checkpoint failed so that no more writes are accepted.
        package var onWriterEnded: @Sendable (DatabaseError) -> Void = { _ in }

        package init() {}
    }

    private let writer: Writer
    private let readers: ReaderPool
    private let background: ReadingThreads
    /// The threads of ``read(_:)``; `nil` with SQLite, which runs it in place.
    private let remote: ReadingThreads?
    /// The longest wait of ``read(_:)`` for one of them.
    private let remoteWait: Duration
    /// `nil` for a database on a server.
    private let file: DatabaseFile?
    /// `nil` without a server.
    private let timelineWatch: TimelineWatch?
    /// `nil` without a server, and if several programs use the schema.
    private let lease: LeaseRenewal?
    private let trips: RoundTrips?
    private let activity: ServerActivity?
    private let statistics: ServerStatistics?
    private let onCall: (@Sendable () -> Void)?
    /// The rights to work that one process does at a time.
    package let leases: Leases
    /// Advice for the operator: settings of the server with which an acknowledged write may be lost.
    package let warnings: [String]
    /// `nil` for a file.
    let server: PostgresServer?
    let migrations: [Migration]
    let isShared: Bool
    /// The number of messages to a server for whose answers the program has waited; 0 with a file.
    package var roundTrips: Int { trips?.count ?? 0 }
    /// Whether ``read(_:)`` runs on the caller's thread, which may be an event loop's. If not, each read has round trips to a server, and
    /// occupies no loop, so that a page is read at once.
    package var readsInPlace: Bool { remote == nil }
    /// Whether the database is a SQLite file.
    package var isFile: Bool { file != nil }
    /// Whether only this process uses the database, so that what an earlier process had begun is begun by nobody now.
    package var isExclusive: Bool { isFile ? !isShared : server?.holder?.isReplica == false }
    /// The counts of the connections to a server; `nil` with a file.
    package var serverCounts: ServerCounts? {
        guard var counts = activity?.snapshot else { return nil }
        counts.roundTrips = roundTrips
        return counts
    }
    /// The state of the server as of the latest look; `nil` with a file, and if the server did not answer it.
    package var serverSample: ServerSample? { statistics?.sample }

    /// Opens the file at `path`, creates it (mode 0600) if it does not exist, and applies `migrations`.
    ///
    /// After an unclean shutdown, the contents of the log are first made durable and moved into the file, so that nothing is read,
    /// written or removed based on data that only the page cache may hold.
    ///
    /// - Throws: ``DatabaseError``, also if that fails: the file must not be used then.
    package init(path: String, migrations: [Migration], options: Options = Options()) throws {
        let reserve = DiskReserve(
            path: Path.sibling("reserve", of: path), size: options.reserveBytes, margin: options.reserveMargin,
            onChange: options.onReserveChange)
        let connection = try reserve.retrying { try Self.open(path, migrations) }
        server = nil
        self.migrations = migrations
        isShared = options.isShared
        onCall = options.onCall
        leases = Leases(nil)
        readers = ReaderPool(path: path, capacity: options.parkedReaders)
        let file = DatabaseFile(
            log: WriteAheadLog(of: path), reserve: reserve,
            checkpoints: Checkpoints(options, reserve: reserve, readers: readers))
        self.file = file
        writer = Writer(
            connection: connection, queue: WriteQueue(capacity: options.waitingWrites, batch: options.batchedWrites),
            file: file, onEnd: options.onWriterEnded)
        background = ReadingThreads(name: "reads", count: options.backgroundReads)
        remote = nil
        remoteWait = .zero
        timelineWatch = nil
        lease = nil
        trips = nil
        activity = nil
        statistics = nil
        warnings = []
    }

    /// Connects to a server, takes the right to the schema, creates the tables if they do not exist, and applies `migrations`.
    ///
    /// - Parameter baseline: the statements that create the tables as of the program's version.
    /// - Throws: ``DatabaseError``, if the server cannot be reached or does not suit, or another program uses the schema.
    package init(
        server: PostgresServer, baseline: String, migrations: [Migration], options: Options = Options()
    ) throws {
        if server.pooler == .session { try PostgresSession.requireSessions(of: server) }
        let session = try PostgresSession(server, .writer)
        let connection = Connection(session)
        try connection.migrate(migrations, from: baseline, on: server)
        try session.requireCollation()
        warnings = try session.warnings()
        session.requiresLease = server.holder != nil
        timelineWatch = try TimelineWatch(server)
        lease = server.holder.map {
            LeaseRenewal(
                $0, of: server, every: server.leaseInterval, clock: options.clock, onLoss: options.onLeaseLoss)
        }
        trips = server.roundTrips
        activity = server.activity
        statistics = options.samplesServer ? ServerStatistics(server) : nil
        self.server = server
        self.migrations = migrations
        isShared = true
        onCall = options.onCall
        leases = Leases(ServerLeases(server))
        file = nil
        readers = ReaderPool(
            capacity: server.readers,
            limit: .init(connections: server.readers, wait: server.readerWait, server.activity)
        ) { () throws(DatabaseError) in ReadConnection(try PostgresSession(server, .reader)) }
        let queue = WriteQueue(
            capacity: options.waitingWrites, batch: min(options.batchedWrites, PostgresServer.batchedWrites))
        writer = Writer(connection: connection, queue: queue, file: nil, onEnd: options.onWriterEnded)
        background = ReadingThreads(name: "reads", count: options.backgroundReads)
        remote = ReadingThreads(name: "server-reads", count: server.readers, isLow: false)
        remoteWait = server.readerWait
    }

    private static func open(_ path: String, _ migrations: [Migration]) throws -> sending Connection {
        // SQLite would create it with the process's umask; the log gets the mode of the file.
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        if descriptor >= 0 { Glibc.close(descriptor) }
        let log = WriteAheadLog(of: path)
        let isUnclean = try log.makeDurable()
        let session = try SQLiteSession(path: path, mode: .writer)
        if isUnclean { try session.recover(log) }
        let connection = Connection(session)
        try connection.migrate(migrations)
        // SQLite syncs the name of a new log, but ignores a failure of that.
        try log.synchronizeFolder()
        return connection
    }

    deinit {
        background.close()
        remote?.close()
        timelineWatch?.close()
        statistics?.close()
        lease?.stop()
        // Without waiting: a write may have held the last reference, in which case this is the writer's thread.
        writer.queue.close(refusing: .closed)
    }

    /// Runs `body` in a transaction and returns when it is on disk. An error that `body` throws rolls it back.
    ///
    /// Read in `body` what the write depends on. `body` shares its transaction with other writes, and may run a second time if the
    /// engine rolled the group back: it must use nothing but the connection, and ``Connection/afterCommit(_:)`` for effects of the
    /// commit. A body that calls the database again traps. In a task that works under a ``Lease``, the transaction requires it.
    ///
    /// - Parameters:
    ///   - isolation: the visibility of concurrent transactions.
    ///   - owner: the owner in whose turn the write waits.
    ///   - mayUseReserve: whether it is also accepted after the disk was full and until there is space again: for writes that
    ///     delete, or that are needed to request that. Other writes fail with ``DatabaseError/full`` meanwhile.
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

    /// The same as ``write(_:)`` for a thread that may block: never an event loop's, and never the writer's own, on which it traps.
    package func writeBlocking<T: Sendable>(
        _ isolation: Isolation = .serializable, for owner: WorkOwner? = .current, mayUseReserve: Bool = false,
        _ body: @escaping @Sendable (Connection) throws -> T
    ) throws -> T {
        precondition(
            !ThreadMark.writer.isSet(to: identity), "A database's own writer cannot wait for another write of it.")
        onCall?()
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

    /// The same as ``write(_:)`` for a write without a waiting caller. Calls `reply` exactly once: on the writer's thread after the
    /// commit, or at once if the write is refused; it must be quick.
    package func submit<T: Sendable>(
        isolation: Isolation = .serializable, for owner: WorkOwner? = .current, mayUseReserve: Bool = false,
        _ body: @escaping @Sendable (Connection) throws -> T,
        reply: @escaping @Sendable (Result<T, any Error>) -> Void
    ) {
        preconditionOutside()
        let (identity, lease, observer) = (identity, Lease.current, WriteObserver.current)
        do {
            let marked = { @Sendable connection in
                try ThreadMark.closure.with(identity) {
                    try lease?.require(in: connection)
                    let value = try body(connection)
                    try observer?.note(value, connection)
                    return value
                }
            }
            try writer.queue.add(Write(mayUseReserve: mayUseReserve, marked, reply: reply), for: owner)
        } catch {
            reply(.failure(error))
        }
    }

    func submit(_ copy: DatabaseCopy) throws(DatabaseError) {
        try writer.queue.add(copy)
    }

    /// Runs `body` on a snapshot of the state that was committed when its first statement began. A body that calls the database
    /// again traps, because it would see another snapshot.
    ///
    /// For handlers: code on a loop may wait here, and the engine chooses where `body` runs. SQLite runs it in place, without a
    /// change of threads, so it must be a read that uses an index and is limited to a page; reads that may take longer than a
    /// millisecond use ``readInBackground(_:)``. With PostgreSQL the caller's loop serves others meanwhile.
    package nonisolated(nonsending) func read<T: Sendable>(
        _ body: @Sendable (ReadConnection) throws -> T
    ) async throws -> T {
        guard let remote else { return try readBlocking(body) }
        let begin = ContinuousClock.now
        return try await withTaskExecutorPreference(ReadExecutor(remote, for: .current)) {
            let wait = ContinuousClock.now - begin
            activity?.note(\.threadWait, wait)
            guard wait < remoteWait else { throw DatabaseError.overloaded }
            return try readBlocking(body)
        }
    }

    /// The same as ``read(_:)`` for a thread that may block, such as one of the HTTP server or one that the caller started: never
    /// an event loop's.
    package func readBlocking<T>(_ body: (ReadConnection) throws -> T) throws -> T {
        preconditionOutside()
        onCall?()
        return try readers.withConnection { connection in
            try connection.session.begin()
            let value: T
            do {
                value = try ThreadMark.closure.with(identity) {
                    try connection.requiringStatements { try body(connection) }
                }
            } catch {
                if connection.isInTransaction { try connection.session.control("ROLLBACK") }
                throw error
            }
            try connection.session.commit()
            return value
        }
    }

    /// The same as ``read(_:)`` on threads of their own, for reads that may take longer than a millisecond: those that count, sum or
    /// list many rows. Owners take turns, and a processor is left to the loops, see ``Options/backgroundReads``.
    package func readInBackground<T: Sendable>(
        _ body: @escaping @Sendable (ReadConnection) throws -> T
    ) async throws -> T {
        try await background.run { try self.readBlocking(body) }
    }

    /// The same as ``readInBackground(_:)`` for a thread that may block: never an event loop's.
    ///
    /// - Parameter owner: the owner in whose turn the read waits.
    package func readInBackgroundBlocking<T: Sendable>(
        for owner: WorkOwner?, _ body: @escaping @Sendable (ReadConnection) throws -> T
    ) throws -> T {
        try background.runBlocking(for: owner) { try self.readBlocking(body) }
    }

    /// Ends the background reads of callers that wait for their turn with ``DatabaseError/closed``, and from then on lets a caller have
    /// only one that waits. For the end of the process: calls whose read has begun get their answer. A server that cannot be reached is
    /// not waited for any more.
    ///
    /// - Parameter delay: the time until then, in which reads that wait may begin. The call returns at once.
    package func refuseWaitingReads(after delay: Duration = .zero) {
        activity?.end()
        guard delay > .zero else { return background.stop() }
        Task.detached { [background] in
            try? await Task.sleep(for: delay)
            background.stop()
        }
    }

    private var identity: ObjectIdentifier { ObjectIdentifier(writer.queue) }

    private func preconditionOutside() {
        precondition(
            !ThreadMark.closure.isSet(to: identity),
            "A closure that runs in a database's transaction asked the same database again: use its connection.")
    }

    /// The number of writes that wait for the writer.
    package var waitingWrites: Int {
        writer.queue.count
    }

    /// The size of the write-ahead log's file; `nil` if it is unknown.
    package var logBytes: Int? { file?.log.byteCount }

    /// The connection that keeps the log from starting over, as of the latest checkpoint, and for how long; `nil` = none is known.
    package var logBlockage: (holder: LogHolder, duration: Duration)? {
        guard let blockage = file?.checkpoints.blockage, let holder = blockage.holder else { return nil }
        return (holder, ContinuousClock.now - blockage.since)
    }

    /// Whether the reserve is released, so that the remaining space is kept for writes that may use it. Sets the reserve aside
    /// again if there is space.
    package var isReserveReleased: Bool { file.map { !$0.reserve.admitsOrdinaryWrites() } ?? false }

    /// Sets the reserve aside if it is released and there is space; called every few minutes.
    package func restoreReserve() { file?.reserve.restore() }

    /// The result of the latest renewal of the right to a schema on a server; `nil` for a file, and for a program without a right of its
    /// own.
    package var contact: ServerContact? { lease?.contact }

    /// The programs that use the database on a server, this one among them; none for a file.
    package func users() async throws -> [LeaseUser] {
        guard server != nil else { return [] }
        return try await read { try LeaseRecords.users(in: $0) }
    }

    /// The id of this program among ``users()``; `nil` for a file.
    package var userID: String? { server?.holder?.id }

    /// The group of programs on a server that this one belongs to; `nil` for a file, and for a program without a right of its own.
    package func leaseGroup() throws -> LeaseGroup? {
        guard let holder = server?.holder else { return nil }
        return try readBlocking { try LeaseRecords.group(of: holder, in: $0) }
    }

    /// Whether writes are accepted: `false` after ``close()``, and after a commit failed with an I/O error.
    package var isWritable: Bool {
        writer.queue.refusal == nil
    }

    /// Refuses new work, commits waiting writes, and returns when the file is closed. Must not be called inside a write.
    package func close() {
        background.close()
        remote?.close()
        timelineWatch?.close()
        statistics?.close()
        readers.close()
        writer.stop()
        lease?.close()
    }
}

/// The visibility of concurrent transactions.
///
/// SQLite has one writer, whose transactions run one after the other, so both levels are the same there. They matter for an engine
/// with concurrent transactions.
package enum Isolation: Sendable {
    /// The result is one that some sequential order could have. A transaction for which that is impossible is rolled back and
    /// repeated.
    case serializable
    /// Each statement sees what is committed at its time. Rows stay unchanged only if the transaction locks them with
    /// ``Connection/hold(_:_:_:)``. For transactions of many callers on the same rows, which would otherwise be repeated again and
    /// again.
    case rowLocks
}

extension Database {
    /// Reads one page of a list: its first rows where ``read(_:)`` runs, and the rest in the background, if there is one.
    ///
    /// Short lists thus need no other thread, and nobody's long list holds up an event loop. The two parts are two reads, as two
    /// pages would be. A page of a server is one read, see ``readsInPlace``.
    ///
    /// - Parameter body: reads rows by an index, within the given limit: those after `last`, or the first ones of the page if that
    ///   is `nil`.
    package nonisolated(nonsending) func readPage<T: Sendable>(
        _ limit: PageLimit,
        _ body: @escaping @Sendable (ReadConnection, _ limit: PageLimit, _ last: T?) throws -> PageRows<T>
    ) async throws -> PageRows<T> {
        let first = readsInPlace ? limit.partOnLoop : limit
        let part = try await read { try body($0, first, nil) }
        var page = PageRows<T>(limit)
        page.append(rest: part)
        guard let rest = limit.rest(after: page) else { return page }
        let last = page.rows.last
        page.append(rest: try await readInBackground { try body($0, rest, last) })
        return page
    }
}
