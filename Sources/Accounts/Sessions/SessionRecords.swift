import Basics
import Database
import GRPCWire
import HTTPTypes
package import RPC

/// The proof by which a session was opened.
package enum SessionProof: Int64, Sendable, Hashable {
    case password = 1
    /// A password, and a second factor in addition.
    case secondFactor = 2
    /// A token of an identity provider, which checks second factors itself.
    case provider = 3
}

/// A session of a person. Its id is the family of its refresh tokens.
struct SessionRecord: Sendable {
    let id: String
    let userID: Int64
    let proof: SessionProof
    let place: SessionPlace
    let times: SessionTimes
}

/// The times of a session; those of sessions from before sessions were recorded are 0.
struct SessionTimes: Sendable, Hashable {
    let createdAt: UnixTime
    let lastUsedAt: UnixTime
    /// The time at which its last refresh token expires.
    let expiresAt: UnixTime
}

/// The rows of sessions. A session without a row has ended: its refresh tokens and access tokens are refused.
struct SessionRecords<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    func insert(_ session: SessionRecord) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO sessions (id, user_id, proof, address, user_agent, created_at, last_used_at, expires_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            """, session.id, session.userID, session.proof.rawValue, session.place.address, session.place.userAgent,
            session.times.createdAt.microseconds, session.times.lastUsedAt.microseconds,
            session.times.expiresAt.microseconds)
    }

    /// Returns a user's sessions, the one that was used last first.
    func all(userID: Int64) throws -> [SessionRecord] {
        try connection.query(
            """
            SELECT id, user_id, proof, address, user_agent, created_at, last_used_at, expires_at FROM sessions
            WHERE user_id = $1 ORDER BY last_used_at DESC, id DESC
            """, userID
        ) { row in
            SessionRecord(
                id: row.text("id"), userID: row.int64("user_id"),
                proof: SessionProof(rawValue: row.int64("proof")) ?? .password,
                place: SessionPlace(address: row.text("address"), userAgent: row.text("user_agent")),
                times: SessionTimes(
                    createdAt: row.time("created_at"), lastUsedAt: row.time("last_used_at"),
                    expiresAt: row.time("expires_at")))
        }
    }

    /// Records a refresh of the session's tokens.
    func noteRefresh(id: String, address: String, expiresAt: UnixTime, at now: UnixTime) throws where C == Connection {
        try connection.execute(
            "UPDATE sessions SET address = $2, expires_at = $3, last_used_at = $4 WHERE id = $1", id, address,
            expiresAt.microseconds, now.microseconds)
    }

    func noteUse(id: String, at now: UnixTime) throws where C == Connection {
        try connection.execute("UPDATE sessions SET last_used_at = $2 WHERE id = $1", id, now.microseconds)
    }

    func setProof(_ proof: SessionProof, id: String) throws where C == Connection {
        try connection.execute("UPDATE sessions SET proof = $2 WHERE id = $1", id, proof.rawValue)
    }

    /// Ends a session.
    ///
    /// - Parameter userID: its user; `nil` = any.
    /// - Returns: whether there was one.
    @discardableResult
    func delete(id: String, userID: Int64? = nil) throws -> Bool where C == Connection {
        let deleted = try connection.execute(
            "DELETE FROM sessions WHERE id = $1 AND user_id = coalesce($2, user_id)", id, userID)
        if deleted == 1 { try RefreshTokenRecords(connection).deleteFamily(id) }
        return deleted == 1
    }

    /// Ends all sessions of a user.
    ///
    /// - Parameter kept: the id of one that stays; `nil` = none.
    /// - Returns: the number of ended sessions.
    @discardableResult
    func deleteAll(userID: Int64, except kept: String? = nil) throws -> Int where C == Connection {
        try connection.execute(
            "DELETE FROM refresh_tokens WHERE user_id = $1 AND family <> coalesce($2, '')", userID, kept)
        return try connection.execute(
            "DELETE FROM sessions WHERE user_id = $1 AND id <> coalesce($2, '')", userID, kept)
    }

    /// Ends the sessions of a user that were used least recently, so that at most `maximum` are left.
    func trim(userID: Int64, to maximum: Int) throws where C == Connection {
        let count = try connection.first("SELECT count(*) AS sessions FROM sessions WHERE user_id = $1", userID) {
            $0.int("sessions")
        }
        guard let count, count > maximum else { return }
        let surplus = try connection.query(
            "SELECT id FROM sessions WHERE user_id = $1 ORDER BY last_used_at, id LIMIT $2", userID, count - maximum
        ) { $0.text("id") }
        for id in surplus { try delete(id: id) }
    }

    /// Deletes sessions whose last refresh token has expired.
    ///
    /// - Parameter limit: the largest number that is deleted at once.
    /// - Returns: the number of deleted sessions.
    func deleteExpired(limit: Int, _ permit: DeletionPermit) throws -> Int where C == Connection {
        let expired = try connection.query(
            "SELECT id FROM sessions WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2",
            try permit.now().microseconds, limit
        ) { $0.text("id") }
        for id in expired { try delete(id: id) }
        return expired.count
    }
}

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

/// The origin of a sign-in, for people who look at their sessions.
package struct SessionPlace: Sendable, Hashable {
    /// The longest description of a program, in bytes.
    private static let longestUserAgent = 256

    /// The address of the caller, without a port.
    package let address: String
    /// The program in its own words; empty if it did not say.
    let userAgent: String

    init(address: String, userAgent: String) {
        self.address = address
        self.userAgent = userAgent
    }

    package init(_ context: CallContext) {
        let printable = (context.metadata["user-agent"] ?? "").unicodeScalars.filter {
            $0.properties.generalCategory != .control
        }
        let text = String(String.UnicodeScalarView(printable))
        self.init(
            address: context.peer.host,
            userAgent: String(decoding: text.utf8.prefix(Self.longestUserAgent), as: UTF8.self))
    }
}

private let maximumOfUser = 16

/// The latest addresses from which each user signed in; attacks on an account do not affect logins from them.
struct LoginAddressRecords<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    /// - Parameter address: normalized by `AddressRange.countedAsOne`.
    func contain(_ address: String, userID: Int64) throws -> Bool {
        try connection.hasRow(
            "SELECT 1 FROM login_addresses WHERE user_id = $1 AND address = $2", userID, address)
    }

    func note(_ address: String, userID: Int64, at now: UnixTime) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO login_addresses (user_id, address, last_login_at) VALUES ($1, $2, $3)
            ON CONFLICT (user_id, address) DO UPDATE SET last_login_at = excluded.last_login_at
            """, userID, address, now.microseconds)
        try connection.execute(
            """
            DELETE FROM login_addresses WHERE user_id = $1 AND address NOT IN (
                SELECT address FROM login_addresses WHERE user_id = $1 ORDER BY last_login_at DESC, address LIMIT $2
            )
            """, userID, maximumOfUser)
    }
}
