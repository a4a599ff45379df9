package import Basics
package import Crypto
package import Database
package import ObjectStore

/// The start and the end of a store in a directory: both sides' identities are compared, and after an unclean shutdown all files with
/// the rows.
final class DirectoryUpkeep: EngineUpkeep {
    let condition: EngineCondition
    private let directory: DirectoryEngine
    private let database: Database
    let reconciler: Reconciler

    init(_ directory: DirectoryEngine, _ start: EngineStart) throws {
        self.directory = directory
        database = start.database
        reconciler = Reconciler(directory, start.database, start.factsWriter)
        condition = try StoreIdentity.advance(
            directory: directory.path, folders: directory.foldersDigest(), database: start.database)
        switch condition {
        case .foreign: break
        case .unclean: reconciler.begin(start.isOrphan)
        case .clean: reconciler.beginForgettingDuplicates()
        }
    }

    var reconciliation: StoreReconciliation { reconciler.found }

    var foldersToReconcile: Int { reconciler.foldersLeft }

    func finish() async { await reconciler.finish() }

    func stop() { reconciler.stop() }

    func drain() { reconciler.drain() }

    /// First all names and modes are made durable: after a power loss they would be older than the record, which the folders' times do
    /// not show.
    func recordCleanStop() {
        guard condition != .foreign, reconciler.isComplete, directory.pending.isEmpty else { return }
        // If any of this fails, the next start compares them.
        guard (try? directory.synchronize()) != nil, let digest = directory.foldersDigest() else { return }
        _ = try? database.writeBlocking(mayUseReserve: true) { try StoreRecords($0).setFoldersAtStop(digest) }
    }
}

extension ObjectStore {
    /// Opens the store in a directory, where no file is removed by its age.
    ///
    /// - Parameter directory: `DIR/store`; created if it does not exist.
    package convenience init(
        directory: String, database: Database, keyring: Keyring, clock: any WallClock = SystemClock(),
        configuration: ObjectStoreConfiguration = ObjectStoreConfiguration(),
        files: DirectoryConfiguration = DirectoryConfiguration()
    ) throws {
        try self.init(
            engine: DirectoryEngine(path: directory, configuration: files), database: database, keyring: keyring,
            clock: clock, configuration: configuration)
    }
}
