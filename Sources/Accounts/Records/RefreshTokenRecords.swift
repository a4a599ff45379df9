import Basics
import Database

struct RefreshTokenRecord: Sendable {
    let id: String
    let family: String
    let userID: Int64
    let digest: [UInt8]
    var expiresAt: UnixTime
    /// The time at which the session ends although it is used; `nil` = never.
    var endsAt: UnixTime?
    /// The time at which it was exchanged for its successor; `nil` while it is the current token of its family.
    var rotatedAt: UnixTime?
}

struct RefreshTokenRecords<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    func insert(_ token: RefreshTokenRecord) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO refresh_tokens (id, family, user_id, digest, expires_at, ends_at) VALUES ($1, $2, $3, $4, $5, $6)
            """,
            token.id, token.family, token.userID, token.digest, token.expiresAt.microseconds,
            token.endsAt?.microseconds)
    }

    func find(id: String) throws -> RefreshTokenRecord? {
        try connection.first(
            "SELECT id, family, user_id, digest, expires_at, ends_at, rotated_at FROM refresh_tokens WHERE id = $1", id
        ) { row in
            RefreshTokenRecord(
                id: row.text("id"), family: row.text("family"), userID: row.int64("user_id"),
                digest: row.blob("digest"), expiresAt: row.time("expires_at"),
                endsAt: row.optionalTime("ends_at"), rotatedAt: row.optionalTime("rotated_at"))
        }
    }

    func markRotated(id: String, at now: UnixTime) throws where C == Connection {
        try connection.execute("UPDATE refresh_tokens SET rotated_at = $2 WHERE id = $1", id, now.microseconds)
    }

    func deleteFamily(_ family: String) throws where C == Connection {
        try connection.execute("DELETE FROM refresh_tokens WHERE family = $1", family)
    }

    func deleteExpired(userID: Int64, _ permit: DeletionPermit) throws where C == Connection {
        try connection.execute(
            "DELETE FROM refresh_tokens WHERE user_id = $1 AND expires_at <= $2", userID, try permit.now().microseconds)
    }
}
