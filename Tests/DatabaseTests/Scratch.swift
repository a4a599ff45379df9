import Basics
import Dispatch
import Synchronization
import TestSupport

@testable import Database

/// A directory that is removed with the last reference to it.
final class Scratch: Sendable {
    private let folder: TestFolder

    var path: String { folder.path }

    init() throws {
        folder = try TestFolder()
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

    func wait(for count: Int) throws -> [String] {
        for _ in 0..<count { try arrived.waitForSignal() }
        return lines.withLock { $0 }
    }
}
