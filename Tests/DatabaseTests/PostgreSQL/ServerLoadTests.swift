import Basics
import DatabaseTesting
import Foundation
import GatewayTesting
import TestSupport
import Testing

@testable import Database

/// The sum of uses that is never exceeded.
private let quota = 1500

/// Many callers of several programs, compared with the results that each of them got.
///
/// `LAB_ROUNDS` is the number of calls of each caller, and `LAB_SCHEMA` the schema of test processes that run at the same time.
@Suite(.timeLimited, .onPostgres) struct ServerLoadTests {
    private static let tables = Migration(
        name: "load-1",
        sql: """
            CREATE TABLE quotas (id INTEGER PRIMARY KEY, used INTEGER NOT NULL) STRICT;
            CREATE TABLE uses (id INTEGER PRIMARY KEY, owner TEXT NOT NULL, amount INTEGER NOT NULL) STRICT;
            CREATE TABLE devices (name TEXT PRIMARY KEY, owner TEXT NOT NULL) STRICT;
            INSERT INTO quotas (id, used) VALUES (1, 0);
            """)

    /// The results that the callers of a program got.
    private struct Reported: Equatable {
        var uses = 0
        var amount = 0
        var devices = 0
    }

    private final class Program: Sendable {
        let database: Database
        let owner = UUID().uuidString
        let reported = Lock(Reported())

        init(_ database: Database) {
            self.database = database
        }

        func call(rounds: Int) async throws {
            for round in 0..<rounds {
                let amount = Int.random(in: 1...9)
                if try await use(amount) {
                    reported.withLock { reported in
                        reported.uses += 1
                        reported.amount += amount
                    }
                }
                if try await initialize("device \(round)") { reported.withLock { $0.devices += 1 } }
            }
        }

        /// Uses a part of the quota, if that much is left.
        private func use(_ amount: Int) async throws -> Bool {
            try await database.write { [owner] connection in
                let used = try connection.first("SELECT used FROM quotas WHERE id = 1") { $0.int("used") } ?? 0
                guard used + amount <= quota else { return false }
                try connection.execute("UPDATE quotas SET used = $1 WHERE id = 1", used + amount)
                try connection.execute("INSERT INTO uses (owner, amount) VALUES ($1, $2)", owner, amount)
                return true
            }
        }

        private func initialize(_ device: String) async throws -> Bool {
            try await database.write { [owner] connection in
                try connection.execute(
                    "INSERT INTO devices (name, owner) VALUES ($1, $2) ON CONFLICT DO NOTHING", device, owner) == 1
            }
        }
    }

    /// A reader that never looks behind the latest use that it has seen.
    private final class Follower: Sendable {
        private let isEnded = Lock(false)

        func end() { isEnded.withLock { $0 = true } }

        /// Returns the ids of uses in the order in which they are seen.
        func run(_ database: Database) async throws -> [Int64] {
            var ids: [Int64] = []
            while true {
                let wasEnded = isEnded.withLock { $0 }
                let last = ids.last ?? 0
                ids += try await database.read { connection in
                    try connection.query("SELECT id FROM uses WHERE id > $1 ORDER BY id", last) { $0.int64("id") }
                }
                if wasEnded { return ids }
            }
        }
    }

    private let scratch: Scratch
    private let rounds: Int

    init() throws {
        let environment = ProcessInfo.processInfo.environment
        scratch = try Scratch(schema: environment["LAB_SCHEMA"])
        rounds = environment["LAB_ROUNDS"].flatMap(Int.init) ?? 4
    }

    @Test func callersGetTheResultsThatAreStored() async throws {
        let programs = try (0..<3).map { _ in Program(try scratch.database([Self.tables])) }
        let follower = Follower()
        let rounds = rounds
        async let followed = follower.run(programs[0].database)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<96 { group.addTask { try await programs[number % 3].call(rounds: rounds) } }
            try await group.waitForAll()
        }
        follower.end()
        let ids = Set(try await followed)
        try await programs[1].database.read { connection in
            for program in programs {
                #expect(try program.reported.withLock { $0 } == Self.stored(program.owner, in: connection))
                let uses = try connection.query("SELECT id FROM uses WHERE owner = $1", program.owner) {
                    $0.int64("id")
                }
                #expect(ids.isSuperset(of: uses))
            }
            let used = try connection.first("SELECT used FROM quotas") { $0.int("used") }
            #expect(used == (try connection.first("SELECT sum(amount) AS n FROM uses") { $0.int("n") }))
            #expect(try #require(used) <= quota)
        }
    }

    private static func stored(_ owner: String, in connection: ReadConnection) throws -> Reported {
        var stored = Reported()
        stored.uses =
            try connection.first("SELECT count(*) AS n FROM uses WHERE owner = $1", owner) { $0.int("n") } ?? 0
        stored.amount =
            try connection.first("SELECT sum(amount) AS n FROM uses WHERE owner = $1", owner) { $0.int("n") } ?? 0
        stored.devices =
            try connection.first("SELECT count(*) AS n FROM devices WHERE owner = $1", owner) { $0.int("n") } ?? 0
        return stored
    }

    @Test func eachOfManyReadsIsAnsweredOrRefused() async throws {
        var server = scratch.server
        server.readers = 2
        server.readerWait = .milliseconds(100)
        let database = try scratch.database(on: server)
        let effect = Lock<Result<[String], any Error>?>(nil)
        let sleep = { @Sendable (connection: ReadConnection) throws -> Bool in
            try connection.hasRow("SELECT pg_sleep(0.01)")
        }
        let responses = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<200 {
                group.addTask {
                    do {
                        // Threads of the store read without a suspension.
                        return number < 50
                            ? try await Worker.thread("test").run { try database.readBlocking(sleep) }
                            : try await database.read(sleep)
                    } catch DatabaseError.overloaded {
                        return false
                    }
                }
            }
            try await database.write { connection in
                connection.afterCommit { effect.withLock { $0 = Result { try database.notes() } } }
            }
            return try await group.reduce(into: [Bool]()) { $0.append($1) }
        }
        #expect(responses.count == 200 && responses.contains(true) && responses.contains(false))
        switch effect.withLock({ $0 }) {
        case .success(let notes): #expect(notes.isEmpty)
        case .failure(let error): #expect(error as? DatabaseError == .overloaded)
        case nil: Issue.record("the effect did not run")
        }
        #expect(try database.notes().isEmpty)
    }
}
