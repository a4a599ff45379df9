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

    func insert(
        _ umid: String, tokenID: String, digest: [UInt8], origin: [UInt8], at now: UnixTime
    ) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO umids (umid, token_id, digest, origin, claimed_at, used_at) VALUES ($1, $2, $3, $4, $5, $5)
            """, umid, tokenID, digest, origin, now.microseconds)
    }

    func find(tokenID: String) throws -> (umid: String, digest: [UInt8], usedAt: UnixTime)? {
        try connection.first("SELECT umid, digest, used_at FROM umids WHERE token_id = $1", tokenID) {
            ($0.text("umid"), $0.blob("digest"), $0.time("used_at"))
        }
    }

    /// Notes that the token was used.
    func markUsed(_ umid: String, at now: UnixTime) throws where C == Connection {
        try connection.execute("UPDATE umids SET used_at = $2 WHERE umid = $1", umid, now.microseconds)
    }

    /// Counts the umids that an address has claimed, up to `limit`.
    func count(ofOrigin origin: [UInt8], limit: Int) throws -> Int {
        try connection.first(
            "SELECT count(*) AS count FROM (SELECT 1 FROM umids WHERE origin = $1 LIMIT $2) claimed", origin, limit
        ) { $0.int("count") } ?? 0
    }

    /// Removes umids that were last used before `limit`.
    ///
    /// - Returns: the number of rows, of which there may be more.
    func deleteUnused(before limit: UnixTime, _ permit: DeletionPermit) throws -> Int where C == Connection {
        try connection.execute(
            """
            DELETE FROM umids WHERE umid IN (
                SELECT umid FROM umids WHERE \(permit.isBefore("used_at", "$1")) ORDER BY used_at LIMIT 500)
            """, limit.microseconds)
    }

    func hasUnused(before limit: UnixTime) throws -> Bool {
        try connection.hasRow("SELECT 1 FROM umids WHERE used_at < $1 ORDER BY used_at LIMIT 1", limit.microseconds)
    }

    func delete(_ umid: String) throws where C == Connection {
        try connection.execute("DELETE FROM umids WHERE umid = $1", umid)
    }

    func count() throws -> Int {
        try connection.first("SELECT count(*) AS count FROM umids") { $0.int("count") } ?? 0
    }
}
