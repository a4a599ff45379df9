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

/// Programs that share a schema.
@Suite(.timeLimited, .onPostgres) struct SharedLeaseTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    private func server(_ name: String, directory: String = "", isReplica: Bool = true) -> PostgresServer {
        var server = scratch.server
        server.holder = LeaseHolder(
            id: name, directory: directory, description: "process \(name)", version: "1.\(name)", isReplica: isReplica)
        server.leaseInterval = .milliseconds(50)
        return server
    }

    private func execute(_ sql: String) throws {
        try scratch.connection().session.executeScript(sql)
    }

    @Test func replicasWriteAtTheSameTime() async throws {
        let first = try scratch.database(on: server("one"))
        defer { first.close() }
        let second = try scratch.database(on: server("two"))
        defer { second.close() }
        try await first.write { _ = try $0.execute("INSERT INTO notes (body) VALUES ('first')") }
        try await second.write { _ = try $0.execute("INSERT INTO notes (body) VALUES ('second')") }
        #expect(try first.notes() == ["first", "second"])
        let users = try await second.users()
        #expect(users.map(\.description) == ["process one", "process two"])
        #expect(users.map(\.version) == ["1.one", "1.two"] && users.allSatisfy(\.isReplica))
    }

    @Test func replicaAndAnotherGatewayExcludeEachOther() throws {
        let first = try scratch.database(on: server("one"))
        let refused = #expect(throws: DatabaseError.self) {
            try scratch.database(on: server("alone", isReplica: false))
        }
        #expect(
            "\(try #require(refused))".hasPrefix(
                "the database is in use by another gateway (process one): replicas share the database: "))
        first.close()
        let alone = try scratch.database(on: server("alone", isReplica: false))
        let second = #expect(throws: DatabaseError.self) { try scratch.database(on: server("two")) }
        #expect(
            "\(try #require(second))".contains("(process alone): it does not share the database (replicas.enabled)"))
        alone.close()
        try scratch.database(on: server("two")).close()
    }

    @Test func replicaThatStoppedIsLeftOutOnlyByAGatewayAlone() async throws {
        let lost = DispatchSemaphore(value: 0)
        var options = Database.Options()
        options.onLeaseLoss = { lost.signal() }
        let stopped = server("one", directory: "a")
        let first = try scratch.database(on: stopped, options: options)
        defer { first.close() }
        // Another replica does not take its right away, also after its time.
        try execute("UPDATE leases SET expires_at = expires_at - 60000000")
        let second = try scratch.database(on: server("two", directory: "b"))
        try await first.write { _ = try $0.execute("INSERT INTO notes (body) VALUES ('before')") }
        second.close()
        let alone = try scratch.database(on: server("alone", directory: "a", isReplica: false))
        defer { alone.close() }
        await #expect(throws: DatabaseError.unavailable("another gateway has taken the database over")) {
            try await first.write { _ = try $0.execute("INSERT INTO notes (body) VALUES ('after')") }
        }
        try lost.waitForSignal()
    }

    @Test func groupLastsAsLongAsAnyReplica() throws {
        let first = try scratch.database(on: server("one", directory: "a"))
        #expect(try first.leaseGroup() == LeaseGroup(id: "one", former: ""))
        let second = try scratch.database(on: server("two", directory: "b"))
        #expect(try second.leaseGroup()?.id == "one")
        first.close()
        let third = try scratch.database(on: server("three", directory: "c"))
        #expect(try third.leaseGroup()?.id == "one")
        // All end without notice.
        for database in [second, third] { database.close() }
        try execute(
            """
            INSERT INTO leases (name, holder, directory, description, expires_at, group_id)
            VALUES ('gateway/gone', 'gone', 'd', 'process gone', CAST(extract(epoch FROM now()) * 1000000 AS BIGINT) - 1, 'one')
            """)
        let fourth = try scratch.database(on: server("four", directory: "e"))
        defer { fourth.close() }
        #expect(try fourth.leaseGroup() == LeaseGroup(id: "four", former: "one"))
    }

    @Test(arguments: [Int64(3), -3, 0]) func differenceOfTheClocksIsMeasured(ahead: Int64) throws {
        struct Shifted: WallClock {
            let ahead: Int64

            func now() -> UnixTime { SystemClock().now().adding(seconds: -ahead) }
        }
        var options = Database.Options()
        options.clock = Shifted(ahead: ahead)
        let database = try scratch.database(on: server("one"), options: options)
        defer { database.close() }
        func measured() -> Int64 { Int64((database.contact?.clockDifference ?? .zero).wholeMilliseconds) }
        // The time of the answer shows a part of the difference: all of it but the duration of the call.
        try waitUntil { abs(measured()) >= abs(ahead) * 500 }
        #expect(abs(measured()) <= abs(ahead) * 1000 && measured().signum() == ahead.signum())
        #expect(database.contact?.isAnswering == true)
    }
}
