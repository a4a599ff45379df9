import Database
import Platform

/// That a database and a data directory belong together and are of the same age.
///
/// Both hold one random id and a number that every start raises, in the database first. An older backup of one beside
/// the other shows as another number: files without a row may then be the only copy of something, and no sweep runs.
struct StoreIdentity: Equatable {
    let id: String
    let generation: Int64

    /// Raises the generation of both.
    ///
    /// - Returns: whether they belong together; they do from here on only in number, so that the operator is told once.
    static func advance(directory: String, database: Database) throws -> Bool {
        let path = directory + "/identity"
        let onDisk = PrivateFile.read(path).flatMap { StoreIdentity(String(decoding: $0, as: UTF8.self)) }
        let recorded = try database.read { try StoreRecords($0).identity() }
        let next = StoreIdentity(
            id: recorded?.id ?? onDisk?.id ?? Hex.lower(Random.bytes(16)),
            generation: max(recorded?.generation ?? 0, onDisk?.generation ?? 0) + 1)
        try database.writeBlocking { try StoreRecords($0).setIdentity(next) }
        try PrivateFile.write(Array("\(next.id) \(next.generation)\n".utf8), to: path)
        guard let recorded, let onDisk else { return recorded == nil && onDisk == nil }
        // The database may be one ahead: a crash between the two writes.
        return recorded.id == onDisk.id && (0...1).contains(recorded.generation - onDisk.generation)
    }

    init(id: String, generation: Int64) {
        self.id = id
        self.generation = generation
    }

    private init?(_ text: String) {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 2, let generation = Int64(words[1]) else { return nil }
        self.init(id: String(words[0]), generation: generation)
    }
}

extension StoreRecords {
    fileprivate func identity() throws -> StoreIdentity? {
        try connection.first("SELECT id, generation FROM store_identity") {
            StoreIdentity(id: $0.text(0), generation: $0.int64(1))
        }
    }

    fileprivate func setIdentity(_ identity: StoreIdentity) throws {
        try connection.execute("DELETE FROM store_identity")
        try connection.execute(
            "INSERT INTO store_identity (id, generation) VALUES ($1, $2)", identity.id, identity.generation)
    }
}
