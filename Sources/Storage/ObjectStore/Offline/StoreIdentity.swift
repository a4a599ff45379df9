import Basics
import Crypto
package import Database
import Glibc

/// The proof that a database and a data directory belong together and have the same age.
///
/// Both contain one random id and a number that every start increases, first in the database. An older backup of one of them shows
/// by another number, a disk that is not mounted by the absence. Files without a row, and rows without a file, may then be the only
/// copy of something: nothing is changed, including the numbers, so that it shows at every start.
package struct StoreIdentity: Equatable, Sendable {
    /// 32 hexadecimal digits.
    package let id: String
    package let generation: Int64

    /// The state of both at a start.
    enum Condition {
        /// They do not belong together; nothing was changed.
        case foreign
        /// They belong together, and have to be compared.
        case unclean
        /// They belong together, and neither has changed since the previous process stopped.
        case clean
    }

    /// Increases the generation of both, if they belong together, and deletes the record of a clean stop.
    ///
    /// - Parameter folders: the ``DirectoryEngine/foldersDigest()``.
    static func advance(directory: String, folders: String?, database: Database) throws -> Condition {
        let onDisk = try read(directory: directory)
        let (recorded, isEmpty, stoppedWith) = try database.readBlocking {
            let records = StoreRecords($0)
            return (try records.identity(), try records.isEmpty(), try records.foldersAtStop())
        }
        let isClean = recorded == onDisk && stoppedWith != nil && stoppedWith == folders
        let next: StoreIdentity
        switch (recorded, onDisk) {
        case (nil, nil):
            next = StoreIdentity(id: Hex.lower(Random.bytes(16)), generation: 1)
        case (let recorded?, nil) where recorded.generation == 1 && isEmpty:
            // The very first start crashed between the two writes.
            next = recorded
        case (let recorded?, let onDisk?) where recorded.belongs(to: onDisk):
            // From the folder's number: starts that failed between the two writes have increased the database's already.
            next = StoreIdentity(id: recorded.id, generation: onDisk.generation + 1)
        default:
            return .foreign
        }
        try database.writeBlocking(mayUseReserve: true) { try StoreRecords($0).setIdentity(next) }
        try next.write(directory: directory)
        return isClean ? .clean : .unclean
    }

    /// Returns the identity in a database.
    package static func recorded(in connection: ReadConnection) throws -> StoreIdentity? {
        try StoreRecords(connection).identity()
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

extension StoreRecords {
    func identity() throws -> StoreIdentity? {
        try connection.first("SELECT id, generation FROM store_identity") {
            StoreIdentity(id: $0.text("id"), generation: $0.int64("generation"))
        }
    }

    /// Whether nothing was ever stored.
    fileprivate func isEmpty() throws -> Bool {
        try connection.first(
            "SELECT EXISTS (SELECT 1 FROM store_objects) OR EXISTS (SELECT 1 FROM store_multiparts) AS holds_any"
        ) { !$0.bool("holds_any") } ?? true
    }

    /// Returns the data folders' digest at a clean stop, if nothing has happened since.
    func foldersAtStop() throws -> String? {
        try connection.first("SELECT stopped_with FROM store_identity") { $0.optionalText("stopped_with") } ?? nil
    }

    /// Records for the next start that all files and rows agree.
    func setFoldersAtStop(_ digest: String) throws where C == Connection {
        try connection.execute("UPDATE store_identity SET stopped_with = $1", digest)
    }

    /// Sets the identity, and deletes the record of a clean stop.
    func setIdentity(_ identity: StoreIdentity) throws where C == Connection {
        try connection.execute("DELETE FROM store_identity")
        try connection.execute(
            "INSERT INTO store_identity (id, generation) VALUES ($1, $2)", identity.id, identity.generation)
    }
}
