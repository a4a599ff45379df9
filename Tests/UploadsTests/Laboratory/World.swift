import Accounts
import Foundation

@testable import ObjectStore
@testable import Uploads

/// A gateway's database and folder, in which one simulation follows the other, each with a device of its own.
final class World {
    static let partSize: Int64 = 4096
    /// Seconds.
    static let sessionIdle: Int64 = 1000
    static let sessionTotal: Int64 = 5000
    static let wholeObjectGrace: Int64 = 1000
    let scene: Scene
    let configuration: UploadsConfiguration
    /// Nothing is given up here: what was completed all the same would leave no room for the file's next upload.
    let isTight: Bool
    /// The store of the process that serves now.
    private(set) var store: ObjectStore
    private var devices = 0

    /// - Parameter isTight: a device's quota has room for little more than its file.
    init(isTight: Bool) throws {
        self.isTight = isTight
        scene = try Scene(store: Self.storeConfiguration)
        store = scene.store
        var configuration = UploadsConfiguration()
        configuration.partSize = Self.partSize
        configuration.credentialLifetime = .seconds(400)
        configuration.sessionIdle = .seconds(Self.sessionIdle)
        configuration.sessionTotal = .seconds(Self.sessionTotal)
        configuration.wholeObjectGrace = .seconds(Self.wholeObjectGrace)
        if isTight {
            configuration.quota.device.bytes = 6 * Self.partSize
            configuration.quota.device.uploads = 2
        }
        self.configuration = configuration
    }

    private static var storeConfiguration: ObjectStoreConfiguration {
        var configuration = ObjectStoreConfiguration()
        configuration.directIO = .off
        return configuration
    }

    /// The store as a new process finds it.
    func restart() throws {
        store = try ObjectStore(
            directory: scene.directory.appending(path: "store").path, database: scene.database,
            keyring: Scene.keyring, clock: scene.clock, configuration: Self.storeConfiguration)
        store.reconciler.drain()
    }

    func device() throws -> Caller {
        devices += 1
        return try scene.device(devices)
    }

    /// The audit log's last line so far.
    func lastLine() throws -> Int64 {
        try scene.rows.lastAuditID()
    }

    /// The store's data files: those on the disk, and those that rows speak of.
    func files() throws -> (onDisk: Set<String>, referenced: Set<String>) {
        store.discards.drain()
        store.removals.drain()
        let onDisk = try DirectoryEngine.folders.flatMap { try store.data.files(inFolder: $0).map(\.fileID) }
        let referenced = try scene.database.readBlocking {
            try $0.query("SELECT file_id FROM store_objects UNION ALL SELECT file_id FROM store_multiparts") {
                $0.text(0)
            }
        }
        return (Set(onDisk), Set(referenced))
    }
}
