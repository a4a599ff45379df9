import Backup
package import Basics
package import Database

/// The copy of the database of a stopped gateway from its data directory to a server, or back.
package enum DatabaseTransfer {
    /// The result of a copy.
    package struct Outcome: Sendable {
        package var rows: CopiedRows
        /// The file that was the database; `nil` after a copy to a directory.
        package var keptFile: String?
    }

    /// Copies the database of a directory into a schema that has no tables yet.
    ///
    /// A call that was interrupted is repeated: the schema is filled in one transaction.
    ///
    /// - Parameter migrations: those of the program, with all apps.
    /// - Throws: `DataDirectory.Problem`, `DatabaseError`; the directory is unchanged then.
    package static func copy(
        directory path: String, to server: PostgresServer, _ migrations: [Migration], now: UnixTime
    ) throws -> Outcome {
        let directory = try DataDirectory.openForCopy(path, to: server.place)
        var server = server
        server.holder = .current(dataDirectory: directory.path)
        let rows = try Database.copy(
            file: directory.database, to: server, baseline: GatewayModules.postgresTables, migrations: migrations)
        return Outcome(rows: rows, keptFile: try directory.useServer(at: server.place, now: now))
    }

    /// Copies the database of a server into the directory that has been used with it, and compares all rows.
    ///
    /// - Throws: `DataDirectory.Problem`, `DatabaseError`, also if a gateway uses the database; the directory is unchanged then.
    package static func copy(
        _ server: PostgresServer, toDirectory path: String, _ migrations: [Migration]
    ) async throws -> Outcome {
        let directory = try DataDirectory.openForCopy(path, from: server.place)
        var server = server
        server.holder = .current(dataDirectory: directory.path)
        let database = try Database(server: server, baseline: GatewayModules.postgresTables, migrations: migrations)
        defer { database.close() }
        try await database.copy(to: directory.unfinishedDatabase)
        let rows = try database.requireSameRows(as: directory.unfinishedDatabase)
        try directory.useCopiedDatabase()
        return Outcome(rows: rows)
    }
}
