import Accounts
import Backup
import Basics
package import Configuration
package import Crypto
import Database
import GatewayAPI

/// The preparation of a new database on a server for several gateways: its tables, its root key, and the first administrator.
package enum ClusterInitialization {
    package struct Outcome: Sendable {
        /// The place of the database, without a password.
        package let place: String
        package let rootKeyFile: String
        /// The root key's, which is in the database, too.
        package let fingerprint: String
        /// Whether the database had no administrator before.
        package let isNew: Bool
    }

    /// Prepares the database, or finds that it is prepared. Each step is done once, also if several programs do them at the same time.
    ///
    /// - Parameter password: the first administrator's.
    /// - Throws: `DataDirectory.Problem`, `KeyringError`, `FirstAdminError`, `DatabaseError`.
    package static func run(_ configuration: Configuration, password: Secret) async throws -> Outcome {
        guard let server = configuration.database.server, let file = configuration.database.rootKeyFile else {
            throw DataDirectory.Problem(
                description: """
                    the configuration must have database.url and database.root_key_file: a gateway with its database or its root key \
                    in the data directory makes them when it starts
                    """)
        }
        let migrations = GatewayModules.databaseMigrations(configuration)
        guard try server.pending(migrations)?.isEmpty != false else {
            throw DataDirectory.Problem(
                description: """
                    \(server.place) has the tables of an earlier version: run 'data-gateway database migrate', or start this version once
                    """)
        }
        let database = try Database(server: server, baseline: GatewayModules.postgresTables, migrations: migrations)
        defer { database.close() }
        let keyring = try RootKeyFile.make(file, for: database, at: server.place)
        let clock = SystemClock()
        let environment = ModuleEnvironment(
            database: database, keyring: keyring, clock: clock, clockGuard: ClockGuard(clock: clock),
            identifiers: Identifiers(clock: clock))
        let accounts = try Accounts(environment, keysDirectory: nil, access: GatewayModules.access)
        let isNew = try await accounts.createFirstAdmin(password: password) { _ in }
        return Outcome(place: server.place, rootKeyFile: file, fingerprint: keyring.fingerprint, isNew: isNew)
    }
}
