import Basics
import Foundation

@testable import Database

/// A directory that is removed with the last reference to it.
final class Scratch: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("database-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func database(
        _ migrations: [Migration] = [.notes], options: Database.Options = Database.Options()
    ) throws -> Database {
        try Database(path: path + "/test.db", migrations: migrations, options: options)
    }
}

extension Migration {
    static let notes = Migration(
        name: "notes-1",
        sql: """
            CREATE TABLE notes (
                id INTEGER PRIMARY KEY, body TEXT NOT NULL UNIQUE,
                parent INTEGER REFERENCES notes (id) DEFERRABLE INITIALLY DEFERRED
            ) STRICT;
            """)
}

extension Database {
    func notes() throws -> [String] {
        try readBlocking { try $0.query("SELECT body FROM notes ORDER BY id") { $0.text(0) } }
    }

    /// Holds the writer inside a write until the returned closure is called, so that what is submitted meanwhile
    /// becomes one batch.
    func holdWriter() -> () -> Void {
        let entered = DispatchSemaphore(value: 0)
        let release = DispatchSemaphore(value: 0)
        submit(
            { _ in
                entered.signal()
                release.wait()
            }, reply: { _ in })
        entered.wait()
        return { release.signal() }
    }
}

/// Runs `body` on another thread, and returns when it has.
func elsewhere(_ body: @escaping @Sendable () -> Void) {
    let done = DispatchSemaphore(value: 0)
    Thread {
        body()
        done.signal()
    }.start()
    done.wait()
}

/// Collects the replies of writes that were submitted together.
final class Replies: Sendable {
    private let lines = Lock<[String]>([])
    private let arrived = DispatchSemaphore(value: 0)

    func record(_ name: String) -> @Sendable (Result<Int, any Error>) -> Void {
        { [self] result in
            switch result {
            case .success: lines.withLock { $0.append("\(name): ok") }
            case .failure(let error): lines.withLock { $0.append("\(name): \(error)") }
            }
            arrived.signal()
        }
    }

    func wait(for count: Int) -> [String] {
        for _ in 0..<count { arrived.wait() }
        return lines.withLock { $0 }
    }
}
