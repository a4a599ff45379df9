import Basics
import DatabaseTesting
import Dispatch
import TestSupport
import Testing

@testable import Database

/// The right of one program to a schema.
@Suite(.timeLimited, .onPostgres) struct LeaseTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    private func server(_ name: String, directory: String = "") -> PostgresServer {
        var server = scratch.server
        server.holder = LeaseHolder(id: name, directory: directory, description: "process \(name)")
        server.leaseInterval = .milliseconds(50)
        return server
    }

    private func execute(_ sql: String) throws {
        try scratch.connection().session.executeScript(sql)
    }

    @Test func secondProgramIsRefusedBeforeItChangesTables() throws {
        let database = try scratch.database(on: server("one"))
        let later = Migration(name: "notes-2", sql: "CREATE TABLE later (id INTEGER) STRICT;")
        let failure = #expect(throws: DatabaseError.self) {
            try scratch.database([.notes, later], on: server("two"))
        }
        #expect("\(try #require(failure))".hasPrefix("the database is in use by another gateway (process one): "))
        #expect(try database.readBlocking { try $0.columns(of: "later") } == [])
        database.close()
        try scratch.database([.notes, later], on: server("two")).close()
    }

    @Test func rightOfAProgramThatEndedWithoutNoticeExpires() throws {
        try scratch.database(on: server("one")).close()
        try execute(
            """
            INSERT INTO leases (name, holder, directory, description, expires_at)
            VALUES ('gateway', 'gone', 'a', 'process gone', CAST(extract(epoch FROM now()) * 1000000 AS BIGINT) - 1)
            """)
        try scratch.database(on: server("two", directory: "b")).close()
    }

    @Test func tableOfAnEarlierVersionGetsWhatItLacks() async throws {
        try scratch.database(on: server("one")).close()
        try execute("DROP TABLE leases")
        try execute(
            """
            CREATE TABLE leases (
                name TEXT COLLATE "C" PRIMARY KEY, holder TEXT COLLATE "C" NOT NULL, directory TEXT COLLATE "C" NOT NULL,
                description TEXT COLLATE "C" NOT NULL, expires_at BIGINT NOT NULL
            )
            """)
        let database = try scratch.database(on: server("one"))
        defer { database.close() }
        #expect(await database.leases.take("work") != nil)
    }

    @Test func renewalKeepsTheRight() async throws {
        let database = try scratch.database(on: server("one"))
        defer { database.close() }
        try execute("UPDATE leases SET expires_at = 0")
        let connection = try scratch.connection()
        func end() throws -> Int64? { try connection.first("SELECT expires_at FROM leases") { $0.int64("expires_at") } }
        while try end() == 0 { await Task.yield() }
        #expect(throws: DatabaseError.self) { try scratch.database(on: server("two")) }
    }

    @Test func programThatLostItsRightWritesNothing() async throws {
        let lost = DispatchSemaphore(value: 0)
        var options = Database.Options()
        options.onLeaseLoss = { lost.signal() }
        let first = try scratch.database(on: server("one", directory: "a"), options: options)
        try await first.write { _ = try $0.execute("INSERT INTO notes (body) VALUES ('before')") }
        // An earlier process with the same directory has ended, as far as the server can know.
        let second = try scratch.database(on: server("two", directory: "a"))
        defer { second.close() }
        await #expect(throws: DatabaseError.unavailable("another gateway has taken the database over")) {
            try await first.write { _ = try $0.execute("INSERT INTO notes (body) VALUES ('after')") }
        }
        try lost.waitForSignal()
        first.close()
        #expect(try second.notes() == ["before"])
        // The end of the first one did not take the right from the second one.
        #expect(throws: DatabaseError.self) { try scratch.database(on: server("three", directory: "b")) }
    }
}
