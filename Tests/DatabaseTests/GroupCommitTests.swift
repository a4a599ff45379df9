import Basics
import DatabaseTesting
import GatewayTesting
import Synchronization
import TestSupport
import Testing

@testable import Database

@Suite(.timeLimited) struct GroupCommitTests {
    let scratch: Scratch
    let database: Database

    init() throws {
        scratch = try Scratch()
        database = try scratch.database()
    }

    private let duplicate = DatabaseEngine.choose(
        sqlite: "UNIQUE constraint failed: notes.body",
        postgres: "duplicate key value violates unique constraint \"notes_body_key\"")
    private let orphan = DatabaseEngine.choose(
        sqlite: "FOREIGN KEY constraint failed",
        postgres: "insert or update on table \"notes\" violates foreign key constraint \"notes_parent_fkey\"")
    private let continued = DatabaseError.misuse("a transaction continues after one of its statements has failed")

    private static func insert(_ body: String) -> @Sendable (Connection) throws -> Int {
        { try $0.execute("INSERT INTO notes (body) VALUES ($1)", body) }
    }

    /// Limits the database to a few pages more than it has.
    private func limitPages() throws {
        try database.writeBlocking { connection in
            let pages = try connection.first("PRAGMA page_count") { $0.int(0) } ?? 0
            try connection.execute("PRAGMA max_page_count = \(pages + 4)")
        }
    }

    @Test func writesThatWaitAreOneTransaction() throws {
        let release = try database.holdWriter()
        let replies = Replies()
        for index in 0..<50 { database.submit(Self.insert("\(index)"), reply: replies.record("\(index)")) }
        #expect(try database.notes().isEmpty)
        release()
        #expect(try replies.wait(for: 50) == (0..<50).map { "\($0): ok" })
        #expect(try database.notes() == (0..<50).map(String.init))
    }

    @Test func nobodyIsAnsweredBeforeTheCommit() throws {
        let release = try database.holdWriter()
        let replies = Replies()
        let visible = VisibleNotes(database)
        let first = replies.record("first")
        database.submit(Self.insert("first")) { result in
            visible.look()
            first(result)
        }
        database.submit(Self.insert("second"), reply: replies.record("second"))
        release()
        _ = try replies.wait(for: 2)
        #expect(visible.seen == ["first", "second"])
    }

    @Test func oneFailureLeavesTheOthers() throws {
        let release = try database.holdWriter()
        let replies = Replies()
        database.submit(Self.insert("a"), reply: replies.record("a"))
        database.submit(
            { connection in
                try connection.execute("INSERT INTO notes (body) VALUES ('half')")
                return try connection.execute("INSERT INTO notes (body) VALUES ('a')")
            }, reply: replies.record("twice"))
        database.submit(Self.insert("b"), reply: replies.record("b"))
        release()
        #expect(try replies.wait(for: 3) == ["a: ok", "twice: \(duplicate)", "b: ok"])
        #expect(try database.notes() == ["a", "b"])
    }

    @Test func failureOfAWriteThatIsAloneLeavesNothing() throws {
        #expect(throws: CancellationError.self) {
            try database.writeBlocking { connection in
                try connection.execute("INSERT INTO notes (body) VALUES ('half')")
                throw CancellationError()
            }
        }
        #expect(try database.notes().isEmpty)
        _ = try database.writeBlocking { try Self.insert("next")($0) }
        #expect(try database.notes() == ["next"])
    }

    /// When the engine rolls the whole batch back, its writes are repeated one by one, and only the one that does not fit fails.
    @Test(.onSQLite) func aFullDatabaseFailsOnlyTheWriteThatIsTooLarge() throws {
        try limitPages()
        let release = try database.holdWriter()
        let replies = Replies()
        database.submit(Self.insert("before"), reply: replies.record("before"))
        database.submit(Self.insert(String(repeating: "x", count: 200_000)), reply: replies.record("large"))
        database.submit(Self.insert("after"), reply: replies.record("after"))
        release()
        #expect(try replies.wait(for: 3) == ["before: ok", "large: the disk is full", "after: ok"])
        #expect(try database.notes() == ["before", "after"])
        #expect(database.isWritable)
    }

    @Test(.onSQLite) func aBodyThatIgnoresTheRollbackCommitsNothing() throws {
        try limitPages()
        #expect(throws: continued) {
            try database.writeBlocking { connection in
                _ = try? connection.execute("INSERT INTO notes (body) VALUES (hex(randomblob(200000)))")
                _ = try? connection.execute("INSERT INTO notes (body) VALUES ('stray')")
            }
        }
        #expect(try database.notes().isEmpty)
    }

    @Test func aBodyThatIgnoresAFailedStatementCommitsNothing() throws {
        let release = try database.holdWriter()
        let replies = Replies()
        database.submit(Self.insert("a"), reply: replies.record("a"))
        database.submit(
            { connection in
                try connection.execute("INSERT INTO notes (body) VALUES ('kept by SQLite')")
                _ = try? connection.execute("INSERT INTO notes (id, body) VALUES (1, 'b'), (1, 'b')")
                return 1
            }, reply: replies.record("ignores"))
        database.submit(Self.insert("c"), reply: replies.record("c"))
        release()
        #expect(try replies.wait(for: 3) == ["a: ok", "ignores: \(continued)", "c: ok"])
        #expect(try database.notes() == ["a", "c"])
    }

    @Test func aFailedStatementIsTheLastOfItsTransaction() throws {
        #expect(throws: continued) {
            try database.writeBlocking { connection in
                do {
                    try connection.execute("INSERT INTO notes (id, body) VALUES (1, 'b'), (1, 'b')")
                } catch DatabaseError.constraint {
                    _ = try connection.query("SELECT body FROM notes") { $0.text("body") }
                }
            }
        }
        #expect(throws: continued) {
            try database.readBlocking { connection in
                _ = try? connection.first("SELECT abs(CAST(-9223372036854775807 AS BIGINT) - 1) AS n") { $0.int64("n") }
            }
        }
        // The connections serve the next transactions.
        _ = try database.writeBlocking { try Self.insert("after")($0) }
        #expect(try database.notes() == ["after"])
    }

    @Test func aConstraintThatBreaksAtCommitFailsItsOwnWriteOnly() throws {
        let release = try database.holdWriter()
        let replies = Replies()
        database.submit(Self.insert("a"), reply: replies.record("a"))
        database.submit(
            { try $0.execute("INSERT INTO notes (body, parent) VALUES ('orphan', 99)") },
            reply: replies.record("orphan"))
        database.submit(Self.insert("b"), reply: replies.record("b"))
        release()
        #expect(try replies.wait(for: 3) == ["a: ok", "orphan: \(orphan)", "b: ok"])
        #expect(try database.notes() == ["a", "b"])
    }
}

/// The state that another connection sees at one moment.
private final class VisibleNotes: Sendable {
    private let database: Database
    private let notes = Lock<[String]?>(nil)

    init(_ database: Database) {
        self.database = database
    }

    func look() {
        let visible = try? database.notes()
        notes.withLock { $0 = visible }
    }

    var seen: [String]? {
        notes.withLock { $0 }
    }
}
