import Backup
import Basics
import Configuration
import Crypto
import Database
import Observability

/// The gateway's database with the keys for it. It is opened before the store: who has the right to a database on a server has the
/// right to what belongs to it.
struct GatewayDatabase: Sendable {
    let directory: DataDirectory
    let database: Database
    let keyring: Keyring
    /// `nil` if the database is a file.
    let server: ServerDatabase?

    /// - Parameter opened: receives what was opened, even if this throws.
    init(
        _ configuration: Configuration, directory: DataDirectory, process: ProcessState, opened: Closings
    ) async throws {
        self.directory = directory
        if let place = configuration.database.server {
            let own = try await Self.open(place, configuration, directory, process, opened)
            (database, keyring) = (own.database, try directory.openKeyring(for: own.database, at: place.place))
            server = own
        } else {
            try directory.requireFile()
            keyring = try directory.openKeyring()
            let file = try GatewayModules.openDatabase(
                directory.database, configuration, process.serving, Logger(process.log))
            opened.add { file.close() }
            (database, server) = (file, nil)
        }
        try directory.require(keyring, of: database)
        try directory.markServed()
    }

    /// Opens the database on a server, and waits for it if it is not available.
    private static func open(
        _ server: PostgresServer, _ configuration: Configuration, _ directory: DataDirectory, _ process: ProcessState,
        _ opened: Closings
    ) async throws -> ServerDatabase {
        try directory.requireServer()
        var place = server
        place.holder = .current(dataDirectory: directory.path, isReplica: configuration.hasReplicas)
        let (server, loss, log) = (place, Signal(), Logger(process.log))
        let wait = DatabaseWait(place: server.place, limit: configuration.database.startTimeout, log: log)
        let database = try await wait.run {
            try GatewayModules.openDatabase(on: server, configuration, process.serving, log) { loss.notify() }
        }
        opened.add { database.close() }
        return ServerDatabase(database: database, server: server, loss: loss)
    }
}
