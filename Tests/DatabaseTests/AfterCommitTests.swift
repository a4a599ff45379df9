import Basics
import DatabaseTesting
import Foundation
import GatewayTesting
import Synchronization
import TestSupport
import Testing

@testable import Database

/// Effects after a commit, and closures that query their own database.
@Suite(.timeLimited) struct AfterCommitTests {
    let database: Database
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        database = try scratch.database()
    }

    private final class Lines: Sendable {
        private let lines = Lock<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    @Test func effectsFollowTheCommitInOrderAndPrecedeTheAnswer() throws {
        let (lines, database) = (Lines(), database)
        try database.writeBlocking { connection in
            try connection.execute("INSERT INTO notes (body) VALUES ('a')")
            // Another connection sees the committed state.
            connection.afterCommit { lines.add("\((try? database.notes()) ?? [])") }
            connection.afterCommit { lines.add("second") }
            lines.add("body")
        }
        lines.add("answered")
        #expect(lines.all == ["body", "[\"a\"]", "second", "answered"])
    }

    @Test func writeThatFailsHasNoEffects() throws {
        struct Refused: Error {}
        let lines = Lines()
        #expect(throws: Refused.self) {
            try database.writeBlocking { connection in
                connection.afterCommit { lines.add("refused") }
                throw Refused()
            }
        }
        try database.writeBlocking { $0.afterCommit { lines.add("kept") } }
        #expect(lines.all == ["kept"])
    }

    @Test func writeThatRunsTwiceHasItsEffectsOnce() throws {
        let (lines, replies) = (Lines(), Replies())
        let release = try database.holdWriter()
        database.submit(
            { connection -> Int in
                lines.add("body")
                connection.afterCommit { lines.add("effect") }
                return 0
            }, reply: replies.record("first"))
        // A deferred constraint makes the COMMIT of both fail, and each runs once more.
        database.submit(
            { try $0.execute("INSERT INTO notes (body, parent) VALUES ('x', 99)") }, reply: replies.record("second"))
        release()
        _ = try replies.wait(for: 2)
        #expect(lines.all == ["body", "body", "effect"])
    }

    @Test(.onSQLite) func unknownOutcomeHasNoEffects() throws {
        let lines = Lines()
        let log = scratch.path + "/test.db-wal"
        try database.writeBlocking { _ = try $0.execute("INSERT INTO notes (body) VALUES ('before')") }
        let readOnly = open(log, O_RDONLY | O_CLOEXEC)
        defer { close(readOnly) }
        try DiskFaultTests.replacing(log, with: readOnly) {
            #expect(throws: DatabaseError.outcomeUnknown) {
                try database.writeBlocking { connection in
                    try connection.execute("INSERT INTO notes (body) VALUES ('uncertain')")
                    connection.afterCommit { lines.add("effect") }
                }
            }
        }
        #expect(lines.all.isEmpty)
    }

    @Test func effectsMaySubmitWrites() throws {
        let (database, replies) = (database, Replies())
        try database.writeBlocking { connection in
            connection.afterCommit {
                database.submit(
                    { try $0.execute("INSERT INTO notes (body) VALUES ('late')") }, reply: replies.record("late"))
            }
        }
        #expect(try replies.wait(for: 1) == ["late: ok"])
    }

    @Test func readInsideAWriteTraps() async {
        await #expect(processExitsWith: .failure) {
            let database = try Scratch().database()
            try database.writeBlocking { _ in _ = try database.notes() }
        }
    }

    @Test func readInsideAReadTraps() async {
        await #expect(processExitsWith: .failure) {
            let database = try Scratch().database()
            try database.readBlocking { _ in _ = try database.notes() }
        }
    }

    @Test func writeInsideAWriteTraps() async {
        await #expect(processExitsWith: .failure) {
            let database = try Scratch().database()
            try database.writeBlocking { _ in database.submit({ _ in }, reply: { _ in }) }
        }
    }

    @Test func waitingForAWriteOnTheWritersThreadTraps() async {
        await #expect(processExitsWith: .failure) {
            let database = try Scratch().database()
            try database.writeBlocking { connection in
                connection.afterCommit { _ = try? database.writeBlocking { _ in 0 } }
            }
        }
    }

    @Test func anotherDatabaseMayBeAsked() throws {
        let folder = try Scratch()
        let other = try folder.database()
        #expect(try database.readBlocking { _ in try other.notes() } == [])
        other.close()
    }

    /// A commit of another process notifies no signal of this one.
    @Test func workInASharedDatabaseIsLookedForWithoutASignal() async throws {
        var options = Database.Options()
        options.isShared = true
        let folder = try TestFolder()
        let database = try Database(path: folder.path + "/db", migrations: [], options: options)
        defer { database.close() }
        await database.wait(for: Signal(), after: 0)
        await database.wait(for: Signal(), after: 0, atMost: .hours(1))
    }
}
