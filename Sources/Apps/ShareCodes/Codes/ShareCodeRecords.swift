import Basics
import Database

private let sweepSize = 500

/// The SQL of codes.
struct ShareCodeRecords<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    /// - Parameter key: the code in upper case.
    func find(_ key: String) throws -> ShareCodeRecord? {
        try connection.first(
            """
            SELECT code, umid, sealed, validity_minutes, expires_at, free_at, created_at FROM share_codes WHERE code = $1
            """, key
        ) { row in
            ShareCodeRecord(
                key: row.text("code"), umid: row.text("umid"), sealed: row.isNull("sealed") ? nil : row.blob("sealed"),
                minutes: row.int("validity_minutes"), createdAt: row.time("created_at"),
                expiresAt: row.time("expires_at"), freeAt: row.time("free_at"))
        }
    }

    /// Inserts the row, or replaces that of the same code.
    ///
    /// - Parameter origin: the digest of the caller's address.
    func put(_ record: ShareCodeRecord, origin: [UInt8]) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO share_codes (code, umid, sealed, validity_minutes, expires_at, free_at, created_at, origin)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            ON CONFLICT (code) DO UPDATE SET umid = $2, sealed = $3, validity_minutes = $4, expires_at = $5,
                free_at = $6, created_at = $7, origin = $8
            """, record.key, record.umid, record.sealed, record.minutes, record.expiresAt.microseconds,
            record.freeAt.microseconds, record.createdAt.microseconds, origin)
    }

    /// Returns the ends of the live codes of a umid other than `key`, the earliest first.
    func liveEnds(of umid: String, except key: String, at now: UnixTime, limit: Int) throws -> [UnixTime] {
        try connection.query(
            """
            SELECT expires_at FROM share_codes
            WHERE umid = $1 AND expires_at > $2 AND code <> $3 AND sealed IS NOT NULL ORDER BY expires_at LIMIT $4
            """, umid, now.microseconds, key, limit
        ) { $0.time("expires_at") }
    }

    /// Counts the codes that can be looked up, in the order of an index.
    func liveCount(at now: UnixTime) throws -> Int {
        try connection.first(
            "SELECT count(*) AS count FROM share_codes WHERE sealed IS NOT NULL AND expires_at > $1", now.microseconds
        ) { $0.int("count") } ?? 0
    }

    /// Counts the codes that an address has registered and that can be looked up, up to `limit`.
    func liveCount(ofOrigin origin: [UInt8], at now: UnixTime, limit: Int) throws -> Int {
        try connection.first(
            """
            SELECT count(*) AS count FROM (
                SELECT 1 FROM share_codes WHERE origin = $1 AND expires_at > $2 AND sealed IS NOT NULL LIMIT $3) live
            """, origin, now.microseconds, limit
        ) { $0.int("count") } ?? 0
    }

    /// Erases the data of codes after their end.
    ///
    /// - Returns: the number of codes, of which there may be more.
    func eraseEnded(at now: UnixTime) throws -> Int where C == Connection {
        try connection.execute(
            """
            UPDATE share_codes SET sealed = NULL, origin = NULL WHERE code IN (
                SELECT code FROM share_codes WHERE sealed IS NOT NULL AND expires_at <= $1 ORDER BY expires_at LIMIT $2)
            """, now.microseconds, sweepSize)
    }

    func hasEnded(at now: UnixTime) throws -> Bool {
        try connection.hasRow(
            "SELECT 1 FROM share_codes WHERE sealed IS NOT NULL AND expires_at <= $1 LIMIT 1", now.microseconds)
    }

    /// Removes rows that became free before `limit`.
    ///
    /// - Returns: the number of rows, of which there may be more.
    func deleteFree(before limit: UnixTime, _ permit: DeletionPermit) throws -> Int where C == Connection {
        try connection.execute(
            """
            DELETE FROM share_codes WHERE code IN (
                SELECT code FROM share_codes WHERE \(permit.isBefore("free_at", "$1")) ORDER BY free_at LIMIT $2)
            """, limit.microseconds, sweepSize)
    }

    func hasFree(before limit: UnixTime) throws -> Bool {
        try connection.hasRow(
            "SELECT 1 FROM share_codes WHERE free_at < $1 ORDER BY free_at LIMIT 1", limit.microseconds)
    }

    /// Ends codes of a umid, erases their data, and removes the umid from them; they become free at `freeAt` at the latest.
    ///
    /// - Returns: the number of rows, of which there may be more.
    func release(_ umid: String, at now: UnixTime, freeAt: UnixTime) throws -> Int where C == Connection {
        try connection.execute(
            """
            UPDATE share_codes SET umid = '', sealed = NULL, origin = NULL,
                expires_at = CASE WHEN expires_at > $2 THEN $2 ELSE expires_at END,
                free_at = CASE WHEN free_at > $3 THEN $3 ELSE free_at END
            WHERE code IN (SELECT code FROM share_codes WHERE umid = $1 LIMIT $4)
            """, umid, now.microseconds, freeAt.microseconds, sweepSize)
    }
}

/// A row of a code.
struct ShareCodeRecord: Sendable, Hashable {
    /// The code in upper case.
    let key: String
    let umid: String
    /// The encrypted data; `nil` after the end.
    let sealed: [UInt8]?
    let minutes: Int
    let createdAt: UnixTime
    let expiresAt: UnixTime
    /// The time from which somebody else may register the code.
    let freeAt: UnixTime

    /// Whether the code can be looked up.
    func isLive(at now: UnixTime) -> Bool { sealed != nil && now < expiresAt }
}

/// The SQL of the counts of codes that were not unique.
struct CollisionRecords {
    let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    /// Counts one event on the day of `now`.
    func add(length: Int, attempts: Int, at now: UnixTime) throws {
        try connection.execute(
            """
            INSERT INTO collisions (day, code_length, events, attempts) VALUES ($1, $2, 1, $3)
            ON CONFLICT (day, code_length) DO UPDATE SET
                events = collisions.events + 1, attempts = collisions.attempts + $3
            """, now.seconds / 86_400, length, attempts)
    }
}
