import Basics
import DatabaseTesting
import Foundation
import GatewayTesting
import Synchronization
import TestSupport
import Testing

@testable import Database

@Suite(.timeLimited) struct DatabaseTests {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    @Test func aWriteIsReadAfterItsAnswer() async throws {
        let database = try scratch.database()
        for index in 0..<20 {
            let id = try await database.write { connection in
                try connection.first("INSERT INTO notes (body) VALUES ($1) RETURNING id", "n\(index)") { $0.int64(0) }
            }
            let body = try database.readBlocking {
                try $0.first("SELECT body FROM notes WHERE id = $1", id) { $0.text(0) }
            }
            #expect(body == "n\(index)")
        }
    }

    @Test func writtenRowsAreThereAfterReopening() async throws {
        let database = try scratch.database()
        try await database.write { _ = try $0.execute("INSERT INTO notes (body) VALUES ('kept')") }
        database.close()
        #expect(try scratch.database().notes() == ["kept"])
    }

    @Test(.onSQLite) func everyCommitIsSynced() throws {
        let database = try scratch.database()
        let settings = try database.writeBlocking { connection in
            try ["synchronous", "journal_mode", "foreign_keys", "wal_autocheckpoint"].map { name in
                try connection.first("PRAGMA \(name)") { $0.text(0) }
            }
        }
        #expect(settings == ["2", "wal", "1", "0"])
    }

    @Test func aReadIsOneSnapshot() throws {
        let database = try scratch.database()
        let counts = try database.readBlocking { connection in
            let before = try connection.first("SELECT count(*) FROM notes") { $0.int(0) }
            try TestThread {
                #expect(throws: Never.self) {
                    try database.writeBlocking { _ = try $0.execute("INSERT INTO notes (body) VALUES ('meanwhile')") }
                }
            }.join()
            return [before, try connection.first("SELECT count(*) FROM notes") { $0.int(0) }]
        }
        #expect(counts == [0, 0])
        #expect(try database.notes() == ["meanwhile"])
    }

    /// Threads that read one snapshot after another until they are stopped.
    private final class Readers: Sendable {
        private let isStopped = Lock(false)
        private let threads = Lock<[TestThread]>([])

        func start(_ count: Int, on database: Database) {
            for _ in 0..<count {
                let thread = TestThread { [self] in
                    while !isStopped.withLock({ $0 }) {
                        _ = try? database.readBlocking { connection in
                            try (0..<20).map { _ in try connection.first("SELECT count(*) FROM notes") { $0.int(0) } }
                        }
                    }
                }
                threads.withLock { $0.append(thread) }
            }
        }

        func stop() throws {
            isStopped.withLock { $0 = true }
            for thread in threads.withLock({ $0 }) { try thread.join() }
        }
    }

    @Test(.onSQLite) func logBeginsAnewAlthoughReadersNeverAllStop() throws {
        var options = Database.Options()
        options.checkpointPages = 50
        let database = try scratch.database(options: options)
        let readers = Readers()
        readers.start(3, on: database)
        defer { #expect(throws: Never.self) { try readers.stop() } }
        let body = String(repeating: "x", count: 4000)
        var salts: Set<[UInt8]> = []
        // A write is two pages or more, and every fourth checkpoint waits for the readers: two salts within 1000 writes are far
        // fewer than expected, however slowly the readers' threads run.
        for number in 0..<1000 where salts.count < 2 {
            try database.writeBlocking {
                _ = try $0.execute("INSERT INTO notes (body) VALUES ($1)", "\(number) \(body)")
            }
            salts.insert(try logSalt())
        }
        #expect(salts.count == 2, "the log did not begin anew")
    }

    /// Returns the salt in the header of the log, which changes each time the log starts over (SQLite's file format, section 4.1).
    private func logSalt() throws -> [UInt8] {
        let log = try FileHandle(forReadingFrom: URL(fileURLWithPath: scratch.path + "/test.db-wal"))
        defer { try? log.close() }
        return Array(try log.read(upToCount: 24)?.suffix(8) ?? Data())
    }

    @Test func aReadThatThrowsLeavesItsConnectionUsable() throws {
        let database = try scratch.database()
        #expect(throws: CancellationError.self) { try database.readBlocking { _ in throw CancellationError() } }
        #expect(try database.notes().isEmpty)
    }

    @Test func manyWritersAndReadersAtOnce() async throws {
        let database = try scratch.database()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<32 {
                group.addTask {
                    for index in 0..<20 {
                        let body = "\(writer)-\(index)"
                        try await database.write { _ = try $0.execute("INSERT INTO notes (body) VALUES ($1)", body) }
                        let count = try database.readBlocking { connection in
                            try connection.first("SELECT count(*) FROM notes WHERE body = $1", body) { $0.int(0) }
                        }
                        #expect(count == 1)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try database.notes().count == 640)
    }

    @Test func aQueueThatIsFullRefuses() throws {
        var options = Database.Options()
        options.waitingWrites = 2
        let database = try scratch.database(options: options)
        let release = try database.holdWriter()
        let replies = Replies()
        for name in ["a", "b", "c"] {
            database.submit(
                { try $0.execute("INSERT INTO notes (body) VALUES ($1)", name) }, reply: replies.record(name))
        }
        #expect(try replies.wait(for: 1) == ["c: too many writes are waiting"])
        #expect(database.waitingWrites == 2)
        release()
        #expect(try replies.wait(for: 2).count == 3)
        #expect(try database.notes() == ["a", "b"])
    }

    @Test func closingCommitsWhatWaitsAndRefusesTheRest() async throws {
        let database = try scratch.database()
        let release = try database.holdWriter()
        let replies = Replies()
        database.submit({ try $0.execute("INSERT INTO notes (body) VALUES ('last')") }, reply: replies.record("last"))
        release()
        database.close()
        #expect(try replies.wait(for: 1) == ["last: ok"])
        await #expect(throws: DatabaseError.closed) { try await database.write { _ in } }
        #expect(throws: DatabaseError.closed) { try database.writeBlocking { _ in } }
        #expect(throws: DatabaseError.closed) { try database.notes() }
        #expect(!database.isWritable)
        database.close()
        #expect(try scratch.database().notes() == ["last"])
    }

    @Test(.onSQLite) func theLogIsCheckpointedAsItGrows() throws {
        var options = Database.Options()
        options.checkpointPages = 10
        let database = try scratch.database(options: options)
        for index in 0..<50 {
            let body = "\(index)" + String(repeating: "x", count: 8192)
            try database.writeBlocking { _ = try $0.execute("INSERT INTO notes (body) VALUES ($1)", body) }
        }
        let log = try FileManager.default.attributesOfItem(atPath: scratch.path + "/test.db-wal")[.size] as? Int
        // Without checkpoints there would be 50 commits of at least 3 pages each.
        #expect(try #require(log) < 50 * 3 * 4096)
    }

    @Test(.onSQLite) func theFileIsTheOwnersOnly() throws {
        let database = try scratch.database()
        _ = try database.notes()
        for name in ["test.db", "test.db-wal"] {
            let mode = try FileManager.default.attributesOfItem(atPath: scratch.path + "/" + name)[.posixPermissions]
            #expect(mode as? Int == 0o600, "\(name)")
        }
    }
}
