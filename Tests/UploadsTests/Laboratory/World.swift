import Accounts
import Basics
import Database
import Foundation
import GatewayTesting
import StoreTesting

@testable import DirectoryEngine
@testable import ObjectStore
@testable import Uploads

/// A gateway's database and folder, in which simulations run one after the other, each with a device of its own.
final class World {
    static let partSize: Int64 = 4096
    /// In seconds.
    static let sessionIdle: Int64 = 1000
    static let sessionTotal: Int64 = 5000
    static let wholeObjectGrace: Int64 = 1000
    let scene: Scene
    let configuration: UploadsConfiguration
    /// Whether quotas are tight. If so, no upload is aborted: one that completed nevertheless would leave no space for the file's
    /// next upload.
    let isTight: Bool
    /// The store of the current process.
    private(set) var store: ObjectStore
    private var devices = 0

    /// - Parameter isTight: whether a device's quota allows little more than its file.
    init(isTight: Bool) throws {
        self.isTight = isTight
        scene = try Scene(files: Self.files)
        store = scene.store
        var configuration = UploadsConfiguration()
        configuration.partSize = Self.partSize
        configuration.credentialLifetime = .seconds(400)
        configuration.sessionIdle = .seconds(Self.sessionIdle)
        configuration.sessionTotal = .seconds(Self.sessionTotal)
        configuration.wholeObjectGrace = .seconds(Self.wholeObjectGrace)
        if isTight {
            configuration.quota.value.device.bytes = 6 * Self.partSize
            configuration.quota.value.device.uploads = 2
        }
        self.configuration = configuration
    }

    private static var files: DirectoryConfiguration {
        var files = DirectoryConfiguration()
        files.directIO = .off
        return files
    }

    /// Replaces the store by that of a new process.
    func restart() throws {
        store = try ObjectStore(
            directory: scene.directory.appending(path: "store").path, database: scene.database,
            keyring: Scene.keyring, clock: scene.clock, files: Self.files)
        store.work.upkeep.drain()
    }

    func device() throws -> Caller {
        devices += 1
        return try scene.device(devices)
    }

    /// Returns the last audit line so far.
    func lastLine() throws -> Int64 {
        try scene.rows.lastAuditID()
    }

    /// Returns the store's data files: those on the disk, and those with a row.
    func files() throws -> (onDisk: Set<String>, referenced: Set<String>) {
        store.work.discards.drain()
        store.work.removals.drain()
        let onDisk = try DirectoryEngine.folders.flatMap { try store.data.files(inFolder: $0).map(\.fileID) }
        let referenced = try scene.database.readBlocking {
            try $0.query("SELECT file_id FROM store_objects UNION ALL SELECT file_id FROM store_multiparts") {
                $0.text(0)
            }
        }
        return (Set(onDisk), Set(referenced))
    }
}
