import Basics
import Database
import DirectoryEngine
import Glibc
import ObjectStore

/// The data directory that is the target of a restore, with the steps that change it.
struct RestoreTarget {
    let directory: DataDirectory
    /// Whether an earlier restore crashed here, perhaps while it replaced files.
    private let isRepeated: Bool

    /// Creates the folder if it does not exist, and locks it.
    ///
    /// - Throws: `DataDirectory.Problem` if it contains anything but the store that belongs to the archive's database.
    init(_ destination: Restore.Destination, for manifest: Manifest) throws {
        let (path, keepsBucket) = (destination.path, destination.keepsBucket)
        try DataDirectory.make(path)
        if try DataDirectory.serverPlace(path) != destination.place { try DataDirectory.requireFile(path) }
        let restoring = try PrivateFile.read(path + "/restoring/manifest").flatMap { Manifest($0) }
        let store = try OfflineStore(directory: path + "/store").identity?.id
        if let restoring {
            guard restoring.storeID == manifest.storeID else {
                throw DataDirectory.Problem(
                    description: """
                        a restore of another gateway's archive into \(path) did not finish: run that restore again, or remove \
                        the folder
                        """)
            }
        } else if let store {
            guard !keepsBucket else {
                throw DataDirectory.Problem(description: "\(path) has a store of objects: name an empty folder")
            }
            guard store == manifest.storeID else {
                throw DataDirectory.Problem(
                    description:
                        "\(path) is the data directory of another gateway than the archive's: name an empty folder")
            }
        } else {
            guard try DataDirectory.contents(path).allSatisfy({ $0 == "restoring" }) else {
                throw DataDirectory.Problem(
                    description: """
                        \(path) is not empty and does not have the store of the archive's gateway: name an empty folder or \
                        the data directory of that gateway
                        """)
            }
            guard keepsBucket || manifest.hasObjects || manifest.objects == 0 else {
                throw DataDirectory.Problem(
                    description: """
                        the archive lists \(manifest.objects) objects without their data: name the data \
                        directory of its gateway, with its store, or use --keep-bucket if they are in a bucket
                        """)
            }
        }
        isRepeated = restoring != nil
        directory = try DataDirectory(locking: path)
        try directory.requireNoRequest()
    }

    /// Begins the restore; from now on no gateway serves the folder.
    func prepare(_ manifest: Manifest) throws -> RestoreStage {
        try PrivateFile.makeFolder(directory.restoring)
        try PrivateFile.write(try manifest.encoded, to: directory.restoring + "/manifest")
        return try RestoreStage(emptying: directory.restoring)
    }

    /// Ends a failed restore, which has not changed existing files. (After a crash while files were replaced it may have.)
    func giveUp() {
        if !isRepeated { try? PrivateFile.remove(directory.restoring) }
    }

    /// Marks the files of the present database's objects as finished, so that they are recognized without their rows.
    ///
    /// - Returns: whether all of them are marked; `false` if there is no database, it cannot be read, or it was not last used with
    ///   the store.
    func sealPresentObjects() -> Bool {
        guard DataDirectory.exists(directory.database) else { return false }
        let store = OfflineStore(directory: directory.store)
        return (try? Database.inspect(path: directory.database) { try store.seal(objectsOf: $0) }) ?? false
    }

    /// Moves the existing database and keys to another folder.
    ///
    /// - Returns: that folder; `nil` if it has neither.
    func setAside(_ now: UnixTime) throws -> String? {
        let names = ["gateway.db", "gateway.db-wal", "gateway.db-shm", "database", "keys"]
            .filter { DataDirectory.exists("\(directory.path)/\($0)") }
        guard !names.isEmpty else { return nil }
        let folder = "\(directory.path)/\(DataDirectory.unusedName("replaced-", at: now, in: directory.path))"
        try PrivateFile.makeFolder(folder)
        for name in names { try DataDirectory.move("\(directory.path)/\(name)", to: "\(folder)/\(name)") }
        try PrivateFile.synchronizeFolder(folder)
        return folder
    }

    /// Puts the collected files of objects in place.
    ///
    /// - Returns: the number of files that were in their places, and are in quarantine now.
    func installFiles() throws -> Int {
        let staged = OfflineStore(directory: directory.restoring + "/store")
        let store = try OfflineStore.make(directory: directory.store)
        var moved: Set<String> = []
        var displaced = 0
        try staged.forEachFile { fileID in
            if try staged.move(fileID, to: store) { displaced += 1 }
            moved.insert(String(fileID.prefix(2)))
        }
        try store.synchronizeNames(moved)
        try staged.moveFacts(to: store)
        return displaced
    }

    /// Puts the collected keys and the database in place, and opens it.
    func installDatabase(_ migrations: [Migration]) throws -> Database {
        let stage = directory.restoring
        try PrivateFile.write(Array(DataDirectory.format.utf8), to: directory.formatFile)
        try PrivateFile.synchronizeFolder(stage + "/keys")
        try DataDirectory.move(stage + "/keys", to: directory.keys)
        try DataDirectory.move(stage + "/gateway.db", to: directory.database)
        try PrivateFile.synchronizeFolder(directory.path)
        return try Database(path: directory.database, migrations: migrations)
    }

    /// Ends the restore; from now on the folder can be served.
    func finish() throws {
        // The marker of an incomplete restore is removed last: after a crash in between the restore has to be repeated.
        let manifest = directory.restoring + "/manifest"
        for name in try FolderListing.names(in: directory.restoring) where name != "manifest" {
            try PrivateFile.remove("\(directory.restoring)/\(name)")
        }
        guard unlink(manifest) == 0, rmdir(directory.restoring) == 0 else {
            throw DataDirectory.Problem.last("cannot remove \(directory.restoring)")
        }
        try PrivateFile.synchronizeFolder(directory.path)
    }
}
