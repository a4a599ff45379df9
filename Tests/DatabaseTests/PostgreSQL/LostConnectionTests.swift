import Basics
import DatabaseTesting
import Dispatch
import GatewayTesting
import Synchronization
import TestSupport
import Testing

@testable import Database

/// Connections that end before, during and after a COMMIT. One at a time, because some change settings of the server.
@Suite(.timeLimited, .onPostgres, .serialized) struct LostConnectionTests {
    /// The end of the message: a transaction begins as READ COMMITTED.
    private static let commit = "COMMIT\0"

    private let scratch: Scratch
    private let proxy: ServerProxy
    /// A connection of another program.
    private let other: Connection
    private let database: Database

    init() throws {
        scratch = try Scratch()
        proxy = try ServerProxy(in: scratch.path)
        other = try scratch.connection()
        database = try scratch.database(on: Self.server(proxy, scratch))
    }

    private static func server(_ proxy: ServerProxy, _ scratch: Scratch) -> PostgresServer {
        var server = scratch.server(through: proxy)
        server.readers = 2
        server.lockTimeout = .seconds(20)
        return server
    }

    private func notes() throws -> [String] {
        try other.query("SELECT body FROM notes ORDER BY id") { $0.text("body") }
    }

    private static func insert(_ body: String) -> @Sendable (Connection) throws -> Int {
        { try $0.execute("INSERT INTO notes (body) VALUES ($1)", body) }
    }

    /// Ends the session of the connection that `body` gets, as the server does when it stops.
    private func terminate(_ backend: Int64) throws {
        #expect(
            try other.first("SELECT pg_terminate_backend($1, 60000) AS is_ended", backend) { $0.bool("is_ended") }
                == true)
    }

    private static func backend(of connection: ReadConnection) throws -> Int64 {
        try connection.first("SELECT CAST(pg_backend_pid() AS BIGINT) AS pid") { $0.int64("pid") } ?? 0
    }

    @Test func unusedConnectionsThatEndedAreReplaced() throws {
        let writer = try database.writeBlocking { try Self.backend(of: $0) }
        let reader = try database.readBlocking { try Self.backend(of: $0) }
        for backend in [writer, reader] { try terminate(backend) }
        _ = try database.writeBlocking { try Self.insert("next")($0) }
        #expect(try database.notes() == ["next"])
        #expect(database.isWritable)
    }

    @Test func batchThatLosesItsConnectionRunsAgain() throws {
        let release = try database.holdWriter()
        let replies = Replies()
        let runs = Lock(0)
        let (entered, leave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let backend = Lock<Int64>(0)
        database.submit(Self.insert("a"), reply: replies.record("a"))
        database.submit(
            { connection in
                let count = try Self.insert("b")(connection)
                let isFirst = runs.withLock { runs in
                    runs += 1
                    return runs == 1
                }
                if isFirst {
                    let own = try Self.backend(of: connection)
                    backend.withLock { $0 = own }
                    entered.signal()
                    try leave.waitForSignal()
                }
                return count
            }, reply: replies.record("b"))
        database.submit(Self.insert("c"), reply: replies.record("c"))
        release()
        try entered.waitForSignal()
        try terminate(backend.withLock { $0 })
        leave.signal()
        #expect(try replies.wait(for: 3) == ["a: ok", "b: ok", "c: ok"])
        #expect(runs.withLock { $0 } == 2)
        #expect(try notes() == ["a", "b", "c"])
    }

    @Test func commitThatReachedTheServerIsFoundThere() throws {
        let effects = Lock(0)
        proxy.cut(.after(Self.commit))
        let count = try database.writeBlocking { connection in
            connection.afterCommit { effects.withLock { $0 += 1 } }
            return try Self.insert("committed")(connection)
        }
        #expect(count == 1 && proxy.cutCount == 1)
        #expect(effects.withLock { $0 } == 1)
        #expect(try notes() == ["committed"])
    }

    @Test func commitThatDidNotReachTheServerRunsAgain() throws {
        let runs = Lock(0)
        proxy.cut(.before(Self.commit))
        _ = try database.writeBlocking { connection in
            runs.withLock { $0 += 1 }
            return try Self.insert("again")(connection)
        }
        #expect(proxy.cutCount == 1 && runs.withLock { $0 } == 2)
        #expect(try notes() == ["again"])
    }

    /// After a restart the numbers of transactions may be used again.
    @Test func outcomeIsUnknownIfTheServerHasRestartedMeanwhile() throws {
        let effects = Lock(0)
        proxy.cut(.after(Self.commit))
        #expect(throws: DatabaseError.outcomeUnknown) {
            try database.writeBlocking { connection in
                _ = try Self.insert("unknown")(connection)
                connection.afterCommit { effects.withLock { $0 += 1 } }
                // As a restart does.
                _ = try connection.first("SELECT CAST(pg_stat_reset_shared('bgwriter') AS TEXT) AS done") { _ in }
            }
        }
        #expect(effects.withLock { $0 } == 0)
        // It waits for the end of the COMMIT, which may still run.
        _ = try database.writeBlocking { try Self.insert("next")($0) }
        #expect(try notes() == ["unknown", "next"])
        #expect(database.isWritable)
    }

    /// Sets whether commits that wait for a standby wait for one that does not exist.
    private func setStandby(_ name: String) throws {
        try other.execute("ALTER SYSTEM SET synchronous_standby_names = '\(name)'")
        try other.session.executeScript("SELECT pg_reload_conf()")
    }

    @Test func settingsThatMayLoseWritesAreReported() throws {
        let standby =
            "the server has no synchronous standby, so a failover may lose the latest writes: set "
            + "synchronous_standby_names"
        let disk = "the server may lose its data in a power loss: set "
        #expect(database.warnings == [disk + "fsync = on", disk + "full_page_writes = on", standby])
    }

    /// A database whose commits wait for a standby.
    private func databaseWithStandby(commitTimeout: Duration) throws -> Database {
        var server = PostgresServer(
            url: DatabaseEngine.url + " options='-c synchronous_commit=on'", schema: scratch.server.schema)
        server.commitTimeout = commitTimeout
        server.networkTimeout = .milliseconds(300)
        server.lockTimeout = .milliseconds(300)
        return try scratch.database(on: server)
    }

    /// Writes until a write is in doubt, which is the first after the server has read its settings.
    ///
    /// - Returns: the bodies of all writes.
    private func writeUntilInDoubt(_ database: Database) throws -> [String] {
        for number in 0..<1000 {
            do {
                _ = try database.writeBlocking { try Self.insert("\(number)")($0) }
            } catch DatabaseError.outcomeUnknown {
                return (0...number).map(String.init)
            }
        }
        Issue.record("no write is in doubt")
        return []
    }

    @Test func commitThatNoStandbyHasIsInDoubt() throws {
        let database = try databaseWithStandby(commitTimeout: .milliseconds(300))
        try setStandby("nobody")
        let written = try writeUntilInDoubt(database)
        // The server continues as if nobody had given up.
        try setStandby("")
        try waitUntil { (try? notes()) == written }
        _ = try database.writeBlocking { try Self.insert("next")($0) }
        #expect(try notes() == written + ["next"])
    }

    /// The rows may be those of an earlier call whose wait was cut off: who repeats it must not be told that it is done.
    @Test func writeThatFindsItsResultWaitsForTheStandby() throws {
        let database = try databaseWithStandby(commitTimeout: .milliseconds(300))
        _ = try database.writeBlocking { try Self.insert("found")($0) }
        try setStandby("nobody")
        var isInDoubt = false
        for _ in 0..<1000 where !isInDoubt {
            do {
                #expect(try database.writeBlocking { try $0.hasRow("SELECT 1 FROM notes WHERE body = 'found'") })
            } catch DatabaseError.outcomeUnknown {
                isInDoubt = true
            }
        }
        try setStandby("")
        #expect(isInDoubt)
    }

    /// The server reports success, with a warning.
    @Test func commitWhoseWaitForAStandbyIsCancelledIsInDoubt() throws {
        let database = try databaseWithStandby(commitTimeout: .seconds(60))
        try setStandby("nobody")
        let isEnded = Lock(false)
        let scratch = scratch
        let thread = TestThread {
            #expect(throws: Never.self) {
                let session = try scratch.connection()
                while !isEnded.withLock({ $0 }) {
                    _ = try session.hasRow(Self.cancellation, Int64(UInt32(bitPattern: scratch.server.lockKey)))
                }
            }
        }
        let written = try writeUntilInDoubt(database)
        isEnded.withLock { $0 = true }
        try thread.join()
        try setStandby("")
        #expect(try notes() == written)
    }

    /// Cancels the COMMIT that waits for a standby.
    private static let cancellation = """
        SELECT pg_cancel_backend(a.pid) FROM pg_stat_activity a JOIN pg_locks l ON l.pid = a.pid
        WHERE a.wait_event = 'SyncRep' AND l.locktype = 'advisory' AND l.classid = CAST($1 AS OID)
        """

    @Test func programThatEndsDoesNotWaitForALostServer() throws {
        var server = Self.server(proxy, scratch)
        for timeout in [
            \PostgresServer.connectTimeout, \.lockTimeout, \.writeTimeout, \.networkTimeout,
        ] as [WritableKeyPath<PostgresServer, Duration>] { server[keyPath: timeout] = .milliseconds(200) }
        server.reconnectTimeout = .seconds(100_000)
        let database = try scratch.database(on: server)
        proxy.cut(.stalled)
        database.refuseWaitingReads()
        #expect(throws: DatabaseError.self) { try database.writeBlocking { try Self.insert("lost")($0) } }
        database.close()
    }

    @Test func serverThatDoesNotAnswerHoldsNobodyForever() throws {
        var server = Self.server(proxy, scratch)
        for timeout in [
            \PostgresServer.connectTimeout, \.reconnectTimeout, \.lockTimeout, \.writeTimeout, \.readTimeout,
            \.commitTimeout, \.networkTimeout,
        ] as [WritableKeyPath<PostgresServer, Duration>] { server[keyPath: timeout] = .milliseconds(200) }
        let database = try scratch.database(on: server)
        _ = try database.notes()
        proxy.cut(.stalled)
        do {
            _ = try database.writeBlocking { try Self.insert("lost")($0) }
            Issue.record("a write is answered")
        } catch DatabaseError.unavailable {}
        do {
            _ = try database.notes()
            Issue.record("a read is answered")
        } catch DatabaseError.unavailable {}
        proxy.cut(nil)
        _ = try database.writeBlocking { try Self.insert("found")($0) }
        #expect(try database.notes() == ["found"])
    }
}
