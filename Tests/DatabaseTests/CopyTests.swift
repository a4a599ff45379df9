import Basics
import DatabaseTesting
import Foundation
import GatewayTesting
import Synchronization
import TestSupport
import Testing

@testable import Database

/// The shared state of the writers and the test.
private final class Progress: Sendable {
    let isOver = Lock(false)
    let written = Lock(0)
}

/// Copies of a database that is being written.
@Suite(.timeLimited, .onSQLite) struct CopyTests {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    private var target: String { scratch.path + "/copy.db" }

    private func bodies(at path: String) throws -> Set<String> {
        try Database.inspect(path: path) { connection in
            #expect(try connection.query("PRAGMA integrity_check") { $0.text(0) } == ["ok"])
            return Set(try connection.query("SELECT body FROM notes") { $0.text(0) })
        }
    }

    @Test func aCopyUnderLoadFinishesAndHoldsAllThatWasAnsweredBefore() async throws {
        let database = try scratch.database()
        // Several thousand pages, so that the copy needs many steps.
        let padding = String(repeating: "x", count: 3000)
        try await database.write { connection in
            for index in 0..<4000 {
                try connection.execute("INSERT INTO notes (body) VALUES ($1)", "before-\(index) \(padding)")
            }
        }
        let progress = Progress()
        let (writes, wrote) = AsyncStream<Void>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<8 {
                group.addTask {
                    var index = 0
                    while !progress.isOver.withLock({ $0 }) {
                        let body = "meanwhile-\(writer)-\(index)"
                        try await database.write { _ = try $0.execute("INSERT INTO notes (body) VALUES ($1)", body) }
                        progress.written.withLock { $0 += 1 }
                        wrote.yield()
                        index += 1
                    }
                }
            }
            // The writers have begun.
            for await _ in writes.prefix(50) {}
            // On a busy machine the writers may get no turn during a copy; then another copy is made.
            var writtenMeanwhile = 0
            for attempt in 0..<20 where writtenMeanwhile == 0 {
                let path = "\(target)-\(attempt)"
                let before = Set(try database.notes())
                let written = progress.written.withLock { $0 }
                try await database.copy(to: path)
                writtenMeanwhile = progress.written.withLock { $0 } - written
                #expect(before.isSubset(of: try bodies(at: path)))
            }
            progress.isOver.withLock { $0 = true }
            try await group.waitForAll()
            #expect(writtenMeanwhile > 0)
        }
    }

    @Test func aCopyIsOfOneMoment() async throws {
        let database = try scratch.database()
        for index in 0..<100 {
            try await database.write { _ = try $0.execute("INSERT INTO notes (body) VALUES ($1)", "note \(index)") }
        }
        async let copy: Void = database.copy(to: target)
        for index in 100..<200 {
            try await database.write { _ = try $0.execute("INSERT INTO notes (body) VALUES ($1)", "note \(index)") }
        }
        try await copy
        let copied = try bodies(at: target)
        #expect(copied.count >= 100)
        // No later write is copied without all earlier ones.
        #expect(copied == Set((0..<copied.count).map { "note \($0)" }))
    }

    @Test func aCopyThatIsNoLongerWantedEnds() async throws {
        let database = try scratch.database()
        let release = try database.holdWriter()
        let task = Task { try await database.copy(to: target) }
        task.cancel()
        release()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await database.write { _ = try $0.execute("INSERT INTO notes (body) VALUES ('after')") }
    }

    @Test func aCopyNeverGoesOverAFile() async throws {
        let database = try scratch.database()
        try Data("mine".utf8).write(to: URL(fileURLWithPath: target))
        await #expect(throws: DatabaseError.self) { try await database.copy(to: target) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: target)) == Data("mine".utf8))
    }

    @Test func aCopyOfAClosedDatabaseIsRefused() async throws {
        let database = try scratch.database()
        database.close()
        await #expect(throws: DatabaseError.closed) { try await database.copy(to: target) }
    }

    @Test func inspectingChangesNothing() async throws {
        let database = try scratch.database()
        try await database.write { _ = try $0.execute("INSERT INTO notes (body) VALUES ('there')") }
        database.close()
        let before = try FileManager.default.contentsOfDirectory(atPath: scratch.path)
        #expect(try bodies(at: scratch.path + "/test.db") == ["there"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == before)
        #expect(throws: DatabaseError.self) {
            try Database.inspect(path: scratch.path + "/test.db") { _ = try $0.hasRow("DELETE FROM notes") }
        }
    }
}
