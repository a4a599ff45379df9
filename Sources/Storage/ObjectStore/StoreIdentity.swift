import Basics
import Crypto
import Database
import Glibc

/// Proof that a database and a data directory belong together and are of the same age.
///
/// Both hold one random id and a number that every start raises, in the database first. An older backup of one beside
/// the other shows as another number, a disk that is not mounted as none. Files without a row, and rows without a file,
/// may then be the only copy of something: nothing is touched, the numbers neither, so that it shows at every start.
package struct StoreIdentity: Equatable, Sendable {
    /// 32 hex digits.
    package let id: String
    package let generation: Int64

    /// How a start finds the two.
    enum Condition {
        /// They do not belong together; nothing was changed.
        case foreign
        /// They belong together, and have to be compared.
        case unclean
        /// They belong together, and nothing happened to either since the process before this one stopped.
        case clean
    }

    /// Raises the generation of both, where they belong together, and takes away what a clean stop recorded.
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
            // Of the folder's number: starts that failed between the two writes have raised the database's already.
            next = StoreIdentity(id: recorded.id, generation: onDisk.generation + 1)
        default:
            return .foreign
        }
        try database.writeBlocking(mayUseReserve: true) { try StoreRecords($0).setIdentity(next) }
        try next.write(directory: directory)
        return isClean ? .clean : .unclean
    }

    /// What a database says.
    package static func recorded(in connection: Connection) throws -> StoreIdentity? {
        try StoreRecords(connection).identity()
    }

    /// What `DIR/store` says; `nil` where there is no such file, or it holds something else.
    static func read(directory: String) throws(PrivateFile.Failure) -> StoreIdentity? {
        try PrivateFile.read(directory + "/identity").flatMap { StoreIdentity(String(decoding: $0, as: UTF8.self)) }
    }

    /// On a full disk in place: these few bytes stand in one sector, which a power loss leaves old or new.
    func write(directory: String) throws(PrivateFile.Failure) {
        let bytes = Array("\(id) \(generation)\n".utf8)
        do {
            try PrivateFile.write(bytes, to: directory + "/identity")
        } catch {
            guard [ENOSPC, EDQUOT].contains(error.code) else { throw error }
            try PrivateFile.overwrite(bytes, at: directory + "/identity")
        }
    }

    /// Whether a store with the identity `other` is what this database was last used with.
    package func belongs(to other: StoreIdentity) -> Bool {
        // The database may be one ahead, by a crash between the two writes of a start.
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

    /// The data folders' digest at a clean stop, if nothing but that stop came last.
    func foldersAtStop() throws -> String? {
        try connection.first("SELECT stopped_with FROM store_identity") { $0.optionalText("stopped_with") } ?? nil
    }

    /// Records that all files and rows agree, for the next start.
    func setFoldersAtStop(_ digest: String) throws {
        try connection.execute("UPDATE store_identity SET stopped_with = $1", digest)
    }

    /// Whatever a clean stop recorded is gone with the row.
    func setIdentity(_ identity: StoreIdentity) throws {
        try connection.execute("DELETE FROM store_identity")
        try connection.execute(
            "INSERT INTO store_identity (id, generation) VALUES ($1, $2)", identity.id, identity.generation)
    }
}
