import Basics
import Database

/// The SQL of umids with a token.
struct UmidRecords<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    func isClaimed(_ umid: String) throws -> Bool {
        try connection.hasRow("SELECT 1 FROM umids WHERE umid = $1", umid)
    }

    func insert(_ umid: String, tokenID: String, digest: [UInt8], at now: UnixTime) throws where C == Connection {
        try connection.execute(
            "INSERT INTO umids (umid, token_id, digest, claimed_at) VALUES ($1, $2, $3, $4)", umid, tokenID, digest,
            now.microseconds)
    }

    func find(tokenID: String) throws -> (umid: String, digest: [UInt8])? {
        try connection.first("SELECT umid, digest FROM umids WHERE token_id = $1", tokenID) {
            ($0.text("umid"), $0.blob("digest"))
        }
    }

    func delete(_ umid: String) throws where C == Connection {
        try connection.execute("DELETE FROM umids WHERE umid = $1", umid)
    }

    func count() throws -> Int {
        try connection.first("SELECT count(*) AS count FROM umids") { $0.int("count") } ?? 0
    }
}
