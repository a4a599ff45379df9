import DatabaseTesting
import Dispatch
import TestSupport
import Testing

@testable import Database

/// The properties of the database that another engine in place of SQLite would have to provide.
@Suite(.timeLimited) struct SeamTests {
    let scratch: Scratch
    let database: Database

    init() throws {
        scratch = try Scratch()
        database = try scratch.database()
    }

    /// Runs one thread at a time, like an event loop.
    private final class Loop: TaskExecutor {
        private static let key = DispatchSpecificKey<Bool>()
        private let queue = DispatchQueue(label: "loop")

        init() { queue.setSpecific(key: Self.key, value: true) }

        static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) ?? false }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    @Test(.onSQLite) func readRunsInPlace() async throws {
        let isOnTheLoop = try await withTaskExecutorPreference(Loop()) {
            try await database.read { _ in Loop.isCurrent }
        }
        #expect(isOnTheLoop)
    }

    @Test(.onPostgres) func readFromAServerLeavesTheLoopAndComesBack() async throws {
        let (isOnTheLoop, comesBack) = try await withTaskExecutorPreference(Loop()) {
            (try await database.read { _ in Loop.isCurrent }, Loop.isCurrent)
        }
        #expect(!isOnTheLoop)
        #expect(comesBack)
    }

    @Test func readInBackgroundLeavesTheLoopAndComesBack() async throws {
        let (isOnTheLoop, comesBack) = try await withTaskExecutorPreference(Loop()) {
            (try await database.readInBackground { _ in Loop.isCurrent }, Loop.isCurrent)
        }
        #expect(!isOnTheLoop)
        #expect(comesBack)
    }

    @Test func readSeesWhatWasWritten() async throws {
        try await database.write(.rowLocks) { connection in
            try connection.hold(.exclusive, "notes", 1)
            try connection.hold("notes")
            try connection.execute("INSERT INTO notes (body) VALUES ('held')")
        }
        try database.writeBlocking(.rowLocks) { connection in
            try connection.hold(.shared, "notes", 1)
            try connection.execute("INSERT INTO notes (body) VALUES ('shared')")
        }
        let bodies = try await database.read { try $0.query("SELECT body FROM notes ORDER BY id") { $0.text(0) } }
        #expect(bodies == ["held", "shared"])
    }

    @Test func readThatThrowsLeavesItsConnectionUsable() async throws {
        await #expect(throws: CancellationError.self) {
            try await database.read { _ in throw CancellationError() }
        }
        #expect(try await database.read { $0.isInTransaction })
    }
}
