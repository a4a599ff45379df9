import Basics
import Database

private let sweepSize = 1000

/// The tokens and nonces that were used, by their digests.
struct SpentTokenRecords<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    func find(_ digest: [UInt8]) throws -> (userID: Int64, usedAt: UnixTime)? {
        try connection.first("SELECT user_id, used_at FROM spent_tokens WHERE digest = $1", digest) {
            ($0.int64("user_id"), $0.time("used_at"))
        }
    }

    func insert(_ digest: [UInt8], userID: Int64, at now: UnixTime, expiresAt: UnixTime) throws where C == Connection {
        try connection.execute(
            "INSERT INTO spent_tokens (digest, user_id, used_at, expires_at) VALUES ($1, $2, $3, $4)", digest, userID,
            now.microseconds, expiresAt.microseconds)
    }

    func hasExpired(at now: UnixTime) throws -> Bool {
        try connection.hasRow(
            "SELECT 1 FROM spent_tokens WHERE expires_at <= $1 ORDER BY expires_at LIMIT 1", now.microseconds)
    }

    /// - Returns: the number of removed rows, of which there may be more.
    func deleteExpired(_ permit: DeletionPermit) throws -> Int where C == Connection {
        try connection.query(
            """
            DELETE FROM spent_tokens WHERE digest IN
                (SELECT digest FROM spent_tokens WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)
            RETURNING 1 AS one
            """, try permit.now().microseconds, sweepSize
        ) { $0.int64("one") }.count
    }
}
