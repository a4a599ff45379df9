import Basics
import DatabaseTesting
import Dispatch
import Foundation
import Synchronization
import TestSupport

@testable import Database

/// The place of a database: a directory that is removed with the last reference to it, or a schema of its own.
final class Scratch: Sendable {
    private let folder: TestFolder
    private let schema: String

    var path: String { folder.path }

    /// The place on the server of `DATABASE_URL`.
    var server: PostgresServer {
        var server = PostgresServer(url: DatabaseEngine.url, schema: schema)
        server.readers = 4
        server.timelineInterval = .seconds(600)
        return server
    }

    /// The same place behind a proxy.
    func server(through proxy: ServerProxy) -> PostgresServer {
        var server = PostgresServer(url: proxy.url, schema: schema)
        server.timelineInterval = .seconds(600)
        return server
    }

    /// - Parameter schema: `nil` = one of its own.
    init(schema: String? = nil) throws {
        folder = try TestFolder()
        self.schema = schema ?? "test_" + UUID().uuidString
    }

    func database(
        _ migrations: [Migration] = [.notes], options: Database.Options = Database.Options()
    ) throws -> Database {
        guard DatabaseEngine.current == .postgres else {
            return try Database(path: path + "/test.db", migrations: migrations, options: options)
        }
        return try database(migrations, on: server, options: options)
    }

    /// Opens the database on PostgreSQL.
    func database(
        _ migrations: [Migration] = [.notes], on server: PostgresServer, options: Database.Options = Database.Options()
    ) throws -> Database {
        let translated = migrations.map { migration in
            guard migration.change == nil else { return migration }
            let sql = DatabaseEngine.translated(migration.sql)
            let translated = Migration(name: migration.name, sql: migration.sql, postgres: sql)
            return migration.isDormant ? translated.dormant : translated
        }
        return try Database(
            server: server, baseline: "", migrations: translated, options: options)
    }

    /// Opens a connection that writes.
    func connection() throws -> Connection {
        guard DatabaseEngine.current == .postgres else {
            return Connection(try SQLiteSession(path: path + "/test.db", mode: .writer))
        }
        let session = try PostgresSession(server, .writer)
        try session.executeScript("CREATE SCHEMA IF NOT EXISTS \(server.quotedSchema)")
        return Connection(session)
    }

    /// Opens a connection that reads.
    func reader() throws -> ReadConnection {
        DatabaseEngine.current == .postgres
            ? ReadConnection(try PostgresSession(server, .reader))
            : ReadConnection(try SQLiteSession(path: path + "/test.db", mode: .reader))
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

extension ReadConnection {
    /// Returns the names of a table's columns; none if there is no table.
    func columns(of table: String) throws -> [String] {
        let sql = DatabaseEngine.choose(
            sqlite: "SELECT name FROM pragma_table_info($1)",
            postgres: """
                SELECT CAST(column_name AS TEXT) AS name FROM information_schema.columns
                WHERE table_schema = current_schema() AND table_name = $1 ORDER BY ordinal_position
                """)
        return try query(sql, table) { $0.text("name") }
    }
}
