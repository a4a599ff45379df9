import Backup
import Database
import Doctor
import ObjectStore
import Serve

/// The data of a stopped gateway, which no gateway uses until they are closed.
struct StoppedGateway {
    let directory: DataDirectory
    private let database: StoppedDatabase

    /// - Parameters:
    ///   - path: the data directory.
    ///   - configuration: the place of the database; `nil` = the data directory has it.
    init(_ path: String, _ configuration: DatabaseConfiguration?) throws {
        let server = configuration?.server
        directory = try DataDirectory.openForRepair(
            path, usedWith: server?.place, rootKey: configuration?.rootKeyFile)
        database =
            if let server {
                .server(try StoppedServer.open(server, directory, Program.migrations), place: server.place)
            } else {
                .file(directory.database)
            }
    }

    /// The database on a server; `nil` = the data directory has it.
    var server: Database? {
        if case .server(let database, _) = database { database } else { nil }
    }

    /// - Parameter bucket: the store, if it is in a bucket.
    func doctor(bucket: (any OfflineObjects)? = nil) -> Doctor {
        Doctor(directory, database, migrations: Program.migrations, bucket: bucket)
    }

    func close() {
        server?.close()
    }
}
