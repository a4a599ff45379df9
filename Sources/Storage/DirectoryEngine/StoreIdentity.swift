import Basics
import Crypto
package import Database
import Glibc
import ObjectStore

/// The proof that a database and a data directory belong together and have the same age.
///
/// Both contain one random id and a number that every start increases, first in the database. An older backup of one of them shows
/// by another number, a disk that is not mounted by the absence. Files without a row, and rows without a file, may then be the only
/// copy of something: nothing is changed, including the numbers, so that it shows at every start.
package struct StoreIdentity: Equatable, Sendable {
    /// 32 hexadecimal digits.
    package let id: String
    package let generation: Int64

    /// Increases the generation of both, if they belong together, and deletes the record of a clean stop.
    ///
    /// - Parameter folders: the ``DirectoryEngine/foldersDigest()``.
    static func advance(directory: String, folders: String?, database: Database) throws -> EngineCondition {
        let onDisk = try read(directory: directory)
        let (recorded, isEmpty, stoppedWith) = try database.readBlocking {
            let records = StoreRecords($0)
            return (try StoreIdentity.recorded(in: $0), try records.isEmpty(), try records.foldersAtStop())
        }
        let isClean = recorded == onDisk && stoppedWith != nil && stoppedWith == folders
        let next: StoreIdentity
        switch (recorded, onDisk) {
        case (nil, nil):
            next = StoreIdentity(id: Random.hex(16), generation: 1)
        case (let recorded?, nil) where recorded.generation == 1 && isEmpty:
            // The very first start crashed between the two writes.
            next = recorded
        case (let recorded?, nil) where try database.readBlocking({ try StoreRecords($0).keepsAllInSegments() }):
            // The directory comes after a bucket that has all bytes.
            next = recorded
        case (let recorded?, let onDisk?) where recorded.belongs(to: onDisk):
            // From the folder's number: starts that failed between the two writes have increased the database's already.
            next = StoreIdentity(id: recorded.id, generation: onDisk.generation + 1)
        default:
            return .foreign
        }
        try database.writeBlocking(mayUseReserve: true) { try next.record(in: $0) }
        try next.write(directory: directory)
        return isClean ? .clean : .unclean
    }

    /// A store that is another one than the database's.
    package struct OtherStore: Error, CustomStringConvertible {
        package let description: String
    }

    /// Throws if the directory has another store than the database on a server, or none, so that all files would be missing.
    ///
    /// - Parameter directory: `DIR/store`.
    package static func requireOwn(directory: String, of database: Database) throws {
        let onDisk = try read(directory: directory)
        let (recorded, isNew, isElsewhere) = try database.readBlocking {
            let (identity, records) = (try StoreIdentity.recorded(in: $0), StoreRecords($0))
            return (identity, try identity?.generation == 1 && records.isEmpty(), try records.keepsAllInSegments())
        }
        guard recorded?.id != onDisk?.id, !(onDisk == nil && (isNew || isElsewhere)) else { return }
        let found = onDisk == nil ? "is empty" : "belongs to another database"
        throw OtherStore(
            description:
                "the store \(directory) \(found), and the database is that of another store: start the gateway with the "
                + "data directory that belongs to the database")
    }

    /// Returns the identity in a database.
    package static func recorded(in connection: ReadConnection) throws -> StoreIdentity? {
        try StoreRecords(connection).identity().map { StoreIdentity(id: $0.id, generation: $0.generation) }
    }

    /// Records the identity in a database, and deletes the record of a clean stop.
    func record(in transaction: Connection) throws {
        let records = StoreRecords(transaction)
        try records.setIdentity(id, generation: generation)
        try records.setDirectoryHoldsBytes(true)
    }

    /// Returns the identity in `DIR/store`; `nil` if there is no such file, or it is invalid.
    static func read(directory: String) throws(PrivateFile.Failure) -> StoreIdentity? {
        try PrivateFile.read(directory + "/identity").flatMap { StoreIdentity(String(decoding: $0, as: UTF8.self)) }
    }

    /// Writes the identity. On a full disk it is overwritten in place: these few bytes are in one sector, which a power loss leaves
    /// old or new.
    func write(directory: String) throws(PrivateFile.Failure) {
        let bytes = Array("\(id) \(generation)\n".utf8)
        do {
            try PrivateFile.write(bytes, to: directory + "/identity")
        } catch {
            guard [ENOSPC, EDQUOT].contains(error.code) else { throw error }
            try PrivateFile.overwrite(bytes, at: directory + "/identity")
        }
    }

    /// Whether this database was last used with the store of identity `other`.
    package func belongs(to other: StoreIdentity) -> Bool {
        // The database may be ahead by one after a crash between the two writes of a start.
        id == other.id && (0...1).contains(generation - other.generation)
    }

    init(id: String, generation: Int64) {
        self.id = id
        self.generation = generation
    }

    init?(_ text: String) {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 2, let generation = Int64(words[1]), generation >= 0 else { return nil }
        self.init(id: String(words[0]), generation: generation)
    }
}
