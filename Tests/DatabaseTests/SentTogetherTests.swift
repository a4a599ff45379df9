import DatabaseTesting
import GatewayTesting
import TestSupport
import Testing

@testable import Database

/// Statements that a server gets together with others.
@Suite(.timeLimited) struct SentTogetherTests {
    private static let insert = "INSERT INTO notes (body) VALUES ($1)"

    private struct Refusal: Error, CustomStringConvertible {
        let description = "refused"
    }

    private let scratch: Scratch
    private let database: Database
    private let duplicate = DatabaseEngine.choose(
        sqlite: "UNIQUE constraint failed: notes.body",
        postgres: "duplicate key value violates unique constraint \"notes_body_key\"")

    init() throws {
        scratch = try Scratch()
        database = try scratch.database()
    }

    private static func find(_ body: String, in connection: ReadConnection) throws -> String? {
        try connection.first("SELECT body FROM notes WHERE body = $1", body) { $0.text("body") }
    }

    @Test func laterStatementsSeeWhatWasExecutedSoon() throws {
        let found = try database.writeBlocking { connection in
            try connection.executeSoon(Self.insert, "a")
            return try Self.find("a", in: connection)
        }
        #expect(found == "a")
    }

    @Test func manyStatementsExecutedSoonAreKept() throws {
        let bodies = (0..<200).map { "\($0)" } + [String(repeating: "x", count: 100_000), "last"]
        try database.writeBlocking { connection in
            for body in bodies { try connection.executeSoon(Self.insert, body) }
        }
        #expect(try database.notes() == bodies)
    }

    @Test func failureOfAStatementExecutedSoonFailsItsWrite() throws {
        try database.writeBlocking { try $0.executeSoon(Self.insert, "a") }
        #expect(throws: DatabaseError.constraint(.unique, message: duplicate)) {
            try database.writeBlocking { connection in
                try connection.executeSoon(Self.insert, "b")
                try connection.executeSoon(Self.insert, "a")
            }
        }
        #expect(try database.notes() == ["a"])
    }

    @Test func eachWriteOfABatchHasItsOwnFailure() throws {
        let release = try database.holdWriter()
        let replies = Replies()
        func submit(_ name: String, _ body: @escaping @Sendable (Connection) throws -> Void) {
            let reply = replies.record(name)
            database.submit(body) { result in reply(result.map { 0 }) }
        }
        submit("first") { try $0.executeSoon(Self.insert, "a") }
        submit("duplicate") { try $0.executeSoon(Self.insert, "a") }
        submit("refused") { connection in
            try connection.executeSoon(Self.insert, "b")
            throw Refusal()
        }
        submit("query") { connection in
            try connection.executeSoon(Self.insert, "c")
            _ = try Self.find("c", in: connection)
        }
        submit("last") { try $0.executeSoon(Self.insert, "d") }
        release()
        #expect(
            try replies.wait(for: 5) == [
                "first: ok", "duplicate: \(DatabaseError.constraint(.unique, message: duplicate))", "refused: refused",
                "query: ok", "last: ok",
            ])
        #expect(try database.notes() == ["a", "c", "d"])
    }

    @Test func failureThatALaterWriteFindsIsThatOfTheEarlierOne() throws {
        let release = try database.holdWriter()
        let replies = Replies()
        for (name, body) in [("first", "a"), ("duplicate", "a"), ("query", "b")] {
            database.submit(
                { connection in
                    try connection.executeSoon(Self.insert, body)
                    return name == "query" ? try Self.find(body, in: connection)?.count ?? 0 : 0
                }, reply: replies.record(name))
        }
        release()
        let failure = DatabaseError.constraint(.unique, message: duplicate)
        #expect(try replies.wait(for: 3) == ["first: ok", "duplicate: \(failure)", "query: ok"])
        #expect(try database.notes() == ["a", "b"])
    }

    @Test func refusedWriteOfABatchLeavesNothingThatWasExecutedSoon() throws {
        let release = try database.holdWriter()
        let replies = Replies()
        for (index, isRefused) in [false, true, false].enumerated() {
            database.submit(
                { connection in
                    try connection.executeSoon(Self.insert, "\(index)")
                    if isRefused { throw Refusal() }
                    return 0
                }, reply: replies.record("\(index)"))
        }
        release()
        #expect(try replies.wait(for: 3) == ["0: ok", "1: refused", "2: ok"])
        #expect(try database.notes() == ["0", "2"])
    }

    @Test func rowsThatWereReadTogetherAreThoseOfTheQueries() throws {
        try database.writeBlocking { connection in
            for body in ["a", "b"] { try connection.executeSoon(Self.insert, body) }
        }
        let found = try database.readBlocking { connection in
            try connection.together { for body in ["a", "b", "c"] { _ = try Self.find(body, in: connection) } }
            return try ["c", "b", "a", "b"].map { try Self.find($0, in: connection) }
        }
        #expect(found == [nil, "b", "a", "b"])
    }

    @Test func rowsThatWereReadTogetherAreReadAgainAfterAChange() throws {
        try database.writeBlocking { try $0.executeSoon(Self.insert, "a") }
        let delete = "DELETE FROM notes WHERE body = $1"
        let found = try database.writeBlocking { connection in
            try connection.together { _ = try Self.find("a", in: connection) }
            let before = try Self.find("a", in: connection)
            try connection.executeSoon(delete, "a")
            let after = try Self.find("a", in: connection)
            try connection.execute(Self.insert, "a")
            try connection.together { _ = try Self.find("a", in: connection) }
            try connection.execute(delete, "a")
            return [before, after, try Self.find("a", in: connection)]
        }
        #expect(found == ["a", nil, nil])
    }

    @Test func rowsOfChangesThatRanTogetherAreReadOnce() throws {
        try database.writeBlocking { connection in
            for body in ["a", "b"] { try connection.executeSoon(Self.insert, body) }
        }
        let removed = try database.writeBlocking { connection in
            func delete(_ body: String) throws -> [String] {
                try connection.query("DELETE FROM notes WHERE body = $1 RETURNING body", body) { $0.text("body") }
            }
            try connection.together { for body in ["a", "b"] { _ = try delete(body) } }
            return try delete("a") + delete("b") + delete("a")
        }
        #expect(removed == ["a", "b"])
        #expect(try database.notes().isEmpty)
    }

    @Test(.onPostgres) func failureOfStatementsTogetherFailsTheTransaction() throws {
        #expect(throws: DatabaseError.self) {
            try database.readBlocking { connection in
                try? connection.together { _ = try connection.query("SELECT 1 / $1 AS n", 0) { $0.int("n") } }
            }
        }
        #expect(try database.notes().isEmpty)
    }
}
