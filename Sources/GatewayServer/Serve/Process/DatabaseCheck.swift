package import Configuration
package import Database

/// An examination of the server that a configuration names for the database, apart from a running gateway.
package enum DatabaseCheck {
    /// Examines the server: see `PostgresServer.examine`.
    ///
    /// - Returns: `nil` if the database is in the data directory.
    package static func run(_ configuration: Configuration) -> ServerReport? {
        configuration.database.server?.examine(GatewayModules.databaseMigrations(configuration))
    }
}
