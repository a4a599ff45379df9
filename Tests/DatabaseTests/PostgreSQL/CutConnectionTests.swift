import Basics
import DatabaseTesting
import Foundation
import GatewayTesting
import TestSupport
import Testing

@testable import Database

/// Connections that are cut at each message, before and after the server has it.
///
/// `LAB_MESSAGES` is the number of messages at which they are cut, 200 in `make lab`. Without it, only some of them are.
@Suite(.timeLimited, .onPostgres) struct CutConnectionTests {
    private static let messages: [Int] = {
        if let number = ProcessInfo.processInfo.environment["LAB_MESSAGES"].flatMap(Int.init) {
            return Array(1...number)
        }
        return Array(1...16) + Array(stride(from: 29, through: 200, by: 19))
    }()

    private static let counts = Migration(
        name: "counts-1", sql: "CREATE TABLE counts (id INTEGER PRIMARY KEY, value INTEGER NOT NULL) STRICT;")

    private let scratch: Scratch
    private let proxy: ServerProxy

    init() throws {
        scratch = try Scratch()
        proxy = try ServerProxy(in: scratch.path)
    }

    /// Opens the database and a connection that reads, again if the cut has ended that.
    private func open() throws -> Database {
        let server = scratch.server(through: proxy)
        do {
            let database = try scratch.database([.notes, Self.counts], on: server)
            #expect(try database.notes().isEmpty)
            return database
        } catch DatabaseError.unavailable {
            #expect(proxy.cutCount == 1)
            return try scratch.database([.notes, Self.counts], on: server)
        }
    }

    /// Adds notes one at a time and in batches, and reads them; each of these succeeds. In every other round, the statements are sent
    /// with COMMIT.
    ///
    /// - Returns: the bodies in the order of their answers, and the number of effects.
    private func write(to database: Database) throws -> (bodies: [String], effects: Int) {
        let effects = Lock(0)
        var bodies: [String] = []
        let insert = { @Sendable (body: String, isSoon: Bool) in
            { @Sendable (connection: Connection) throws -> Int in
                connection.afterCommit { effects.withLock { $0 += 1 } }
                let count = "UPDATE counts SET value = value + 1 WHERE id = 1"
                let insert = "INSERT INTO notes (body) VALUES ($1)"
                guard isSoon else {
                    try connection.execute(count)
                    return try connection.execute(insert, body)
                }
                try connection.executeSoon(count)
                try connection.executeSoon(insert, body)
                return 1
            }
        }
        _ = try database.writeBlocking { try $0.execute("INSERT INTO counts (id, value) VALUES (1, 0)") }
        for round in 0..<14 {
            let isSoon = round % 2 == 1
            for single in 0..<2 {
                #expect(try database.writeBlocking { try insert("\(round) \(single)", isSoon)($0) } == 1)
                bodies.append("\(round) \(single)")
            }
            let release = try database.holdWriter()
            let replies = Replies()
            for part in ["a", "b", "c"] {
                database.submit(insert("\(round) \(part)", isSoon), reply: replies.record(part))
                bodies.append("\(round) \(part)")
            }
            release()
            #expect(try replies.wait(for: 3) == ["a: ok", "b: ok", "c: ok"])
            #expect(try database.notes() == bodies)
        }
        return (bodies, effects.withLock { $0 })
    }

    @Test(arguments: [true, false])
    func writesSucceedOnce(_ isBefore: Bool) throws {
        for number in Self.messages {
            let schema = try Scratch()
            proxy.cut(isBefore ? .beforeMessage(number) : .afterMessage(number))
            let test = CutConnectionTests(schema, proxy)
            let database = try test.open()
            let (bodies, effects) = try test.write(to: database)
            #expect(proxy.cutCount == 1 && effects == bodies.count, "message \(number)")
            database.close()
            let other = try schema.connection()
            let found = try other.query("SELECT body FROM notes ORDER BY id") { $0.text("body") }
            #expect(found == bodies, "message \(number)")
            #expect(try other.first("SELECT value FROM counts") { $0.int("value") } == bodies.count)
            // The call that is repeated finds what it has written.
            #expect(throws: DatabaseError.self) { try other.execute("INSERT INTO notes (body) VALUES ($1)", bodies[0]) }
        }
    }

    private init(_ scratch: Scratch, _ proxy: ServerProxy) {
        self.scratch = scratch
        self.proxy = proxy
    }
}
