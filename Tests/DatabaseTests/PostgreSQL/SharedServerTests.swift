import Basics
import DatabaseTesting
import Dispatch
import GatewayTesting
import Synchronization
import TestSupport
import Testing

@testable import Database

/// Several programs with one database on a server.
@Suite(.timeLimited, .onPostgres) struct SharedServerTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    private static let counts = Migration(
        name: "counts-1", sql: "CREATE TABLE counts (id INTEGER PRIMARY KEY, value INTEGER NOT NULL) STRICT;")

    @Test func writersTakeTurnsSoThatNoUpdateIsLost() async throws {
        let databases = try (0..<3).map { _ in try scratch.database([Self.counts]) }
        try await databases[0].write { _ = try $0.execute("INSERT INTO counts (id, value) VALUES (1, 0)") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<24 {
                group.addTask {
                    for _ in 0..<10 {
                        try await databases[number % 3].write { connection in
                            let value = try connection.first("SELECT value FROM counts WHERE id = 1") {
                                $0.int("value")
                            }
                            try connection.execute("UPDATE counts SET value = $1 WHERE id = 1", (value ?? 0) + 1)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let value = try databases[1].readBlocking { try $0.first("SELECT value FROM counts") { $0.int("value") } }
        #expect(value == 240)
    }

    @Test func startsAtTheSameTimeMakeOneSchema() throws {
        let scratch = scratch
        let threads = (0..<4).map { _ in
            TestThread {
                #expect(throws: Never.self) { try scratch.database([.notes, Self.counts]).close() }
            }
        }
        for thread in threads { try thread.join() }
        let names = try scratch.connection().query("SELECT name FROM migrations ORDER BY number") { $0.text("name") }
        #expect(names == ["notes-1", "counts-1"])
    }

    @Test func baselineHasTheResultOfItsMigrations() throws {
        let baseline = """
            \(DatabaseEngine.translated(Migration.notes.sql));
            INSERT INTO migrations (name, number) VALUES ('notes-1', 1), ('dormant-1', 2);
            """
        let dormant = Migration(name: "dormant-1", sql: "-").dormant
        let next = Migration(
            name: "notes-2", sql: "",
            postgres: "ALTER TABLE notes ADD COLUMN color TEXT COLLATE \"C\" NOT NULL DEFAULT 'gray'")
        for _ in 0..<2 {
            let database = try Database(
                server: scratch.server, baseline: baseline, migrations: [.notes, dormant, next])
            #expect(try database.readBlocking { try $0.columns(of: "notes") } == ["id", "body", "parent", "color"])
            database.close()
        }
        #expect(throws: DatabaseError.newerSchema(migration: "notes-2")) {
            try Database(server: scratch.server, baseline: baseline, migrations: [.notes, dormant])
        }
        let later = Migration(name: "notes-3", sql: "")
        #expect(throws: DatabaseError.misuse("the migration notes-3 has no statements for PostgreSQL")) {
            try Database(server: scratch.server, baseline: baseline, migrations: [.notes, dormant, next, later])
        }
    }

    @Test func writeWaitsForTheLockOfAnotherProgramForALimitedTime() throws {
        var server = scratch.server
        server.lockTimeout = .milliseconds(100)
        let database = try scratch.database(on: server)
        let other = try scratch.connection()
        try other.session.begin()
        let replies = Replies()
        for name in ["a", "b"] {
            database.submit(
                { try $0.execute("INSERT INTO notes (body) VALUES ($1)", name) }, reply: replies.record(name))
        }
        #expect(try replies.wait(for: 2) == ["a", "b"].map { "\($0): \(DatabaseError.locked)" })
        try other.session.commit()
        _ = try database.writeBlocking { try $0.execute("INSERT INTO notes (body) VALUES ('c')") }
        #expect(try database.notes() == ["c"])
    }

    @Test func readWaitsForAConnectionForALimitedTime() throws {
        var server = scratch.server
        server.readers = 1
        server.readerWait = .milliseconds(10)
        let database = try scratch.database(on: server)
        try database.readBlocking { _ in
            try TestThread {
                #expect(throws: DatabaseError.overloaded) { try database.notes() }
            }.join()
        }
        #expect(try database.notes().isEmpty)
    }

    @Test func readWaitsForAThreadForALimitedTime() async throws {
        var server = scratch.server
        server.readerWait = .zero
        let database = try scratch.database(on: server)
        await #expect(throws: DatabaseError.overloaded) { try await database.read { try $0.hasRow("SELECT 1") } }
        #expect(try database.notes().isEmpty)
    }

    /// Each write takes a quarter of a transaction's time.
    @Test func longBatchesAreSeveralTransactions() throws {
        let database = try scratch.database()
        let release = try database.holdWriter()
        let replies = Replies()
        let transactions = Lock<Set<Int64>>([])
        for index in 0..<40 {
            database.submit(
                { connection in
                    let number = try connection.first(
                        "SELECT CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT) AS number, pg_sleep(0.0125)"
                    ) { $0.int64("number") }
                    _ = transactions.withLock { $0.insert(number ?? 0) }
                    return try connection.execute("INSERT INTO notes (body) VALUES ($1)", "\(index)")
                }, reply: replies.record("\(index)"))
        }
        release()
        #expect(try replies.wait(for: 40) == (0..<40).map { "\($0): ok" })
        // 40 writes in batches of at most 16 are 3 transactions without the limit in time.
        #expect(transactions.withLock { $0.count } >= 8)
        #expect(try database.notes() == (0..<40).map(String.init))
    }

    @Test func statementThatFailsInsideABatchLeavesTheOthers() throws {
        let database = try scratch.database()
        let release = try database.holdWriter()
        let replies = Replies()
        for (name, sql) in [
            ("a", "INSERT INTO notes (body) VALUES ('a')"), ("bad", "SELECT 1 / 0"),
            ("missing", "INSERT INTO nothing VALUES (1)"), ("b", "INSERT INTO notes (body) VALUES ('b')"),
        ] {
            database.submit({ try $0.execute(sql) }, reply: replies.record(name))
        }
        release()
        #expect(
            try replies.wait(for: 4) == [
                "a: ok", "bad: database error 22012: division by zero",
                "missing: database error 42P01: relation \"nothing\" does not exist", "b: ok",
            ])
        #expect(try database.notes() == ["a", "b"])
    }
}
