package import Backup
package import Database

/// The database of a stopped gateway on a server, for commands.
package enum StoppedServer {
    /// The longest statement, and the longest pause between two statements of a transaction: objects are read meanwhile.
    private static let timeout = Duration.seconds(24 * 3600)

    /// Takes the right to the schema until the database is closed.
    ///
    /// - Parameters:
    ///   - directory: the data directory of the gateway, locked.
    ///   - migrations: those of the program, with all apps.
    /// - Throws: `DataDirectory.Problem` if the schema is not that of this version, `DatabaseError` also if a gateway uses it.
    package static func open(
        _ server: PostgresServer, _ directory: DataDirectory, _ migrations: [Migration]
    ) throws -> Database {
        guard let pending = try server.pending(migrations) else {
            throw DataDirectory.Problem(
                description: "\(server.place) has no tables: check database.url and database.schema")
        }
        guard pending.isEmpty else {
            throw DataDirectory.Problem(
                description: """
                    the database was written by an older data-gateway: run 'data-gateway database migrate' first, or start this version \
                    once
                    """)
        }
        var server = server
        server.holder = .current(dataDirectory: directory.path)
        server.readTimeout = timeout
        server.idleTimeout = timeout
        return try Database(server: server, baseline: GatewayModules.postgresTables, migrations: migrations)
    }

    /// - Throws: `DataDirectory.Problem` if the schema has tables, which a restored database must not replace.
    package static func requireNoTables(_ server: PostgresServer, _ migrations: [Migration]) throws {
        guard try server.pending(migrations) == nil else {
            throw DataDirectory.Problem(
                description: """
                    \(server.place) has tables: name a new schema in database.schema, or remove this one by \
                    'DROP SCHEMA \(server.schema) CASCADE'
                    """)
        }
    }
}
