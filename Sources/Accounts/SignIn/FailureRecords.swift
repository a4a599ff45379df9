import Basics
import Crypto
import Database

/// The failures of attempts to prove who somebody is, which all gateways count together.
///
/// A row has the time at which its subject has no failures any more: each failure moves it on by the time in which one is forgiven. So a
/// limit of `n` in a period is reached when that time is further away than the period less the time of one failure, and a subject without
/// failures needs no row.
struct FailureRecords<C: ReadConnection> {
    static var migration: Migration {
        Migration(
            name: "accounts-14",
            sql: """
                -- subject: a digest of what is limited, such as the name of an account. ends_at: when all its failures are forgiven.
                CREATE TABLE sign_in_failures (
                    subject BLOB PRIMARY KEY,
                    ends_at INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX sign_in_failures_ended ON sign_in_failures (ends_at);
                """,
            postgres: """
                CREATE TABLE sign_in_failures (subject BYTEA PRIMARY KEY, ends_at BIGINT NOT NULL);
                CREATE INDEX sign_in_failures_ended ON sign_in_failures (ends_at);
                """, compatibility: .expanding)
    }

    let connection: C

    init(_ connection: C) { self.connection = connection }

    /// The time when all failures of a subject are forgiven; `nil` = it has none.
    func end(of subject: [UInt8]) throws -> UnixTime? {
        try connection.first("SELECT ends_at FROM sign_in_failures WHERE subject = $1", subject) { $0.time("ends_at") }
    }

    func setEnd(_ end: UnixTime, of subject: [UInt8]) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO sign_in_failures (subject, ends_at) VALUES ($1, $2)
            ON CONFLICT (subject) DO UPDATE SET ends_at = excluded.ends_at
            """, subject, end.microseconds)
    }

    /// Deletes the rows whose failures are all forgiven.
    ///
    /// - Returns: the number of deleted rows; fewer than `limit` if none is left.
    func deleteEnded(at now: UnixTime, limit: Int) throws -> Int where C == Connection {
        try connection.execute(
            """
            DELETE FROM sign_in_failures WHERE subject IN (
                SELECT subject FROM sign_in_failures WHERE ends_at <= $1 ORDER BY ends_at LIMIT $2)
            """, now.microseconds, limit)
    }
}

/// A limit of failures that all gateways count together, and that a restart does not forget.
///
/// It is read before an attempt, and written after a failure only: a success writes nothing, and neither does an attempt that is refused.
struct FailureLimit: Sendable {
    /// The largest difference between the clocks of two gateways. A row that is further away than that was written before a clock was set
    /// back.
    private static let clockTolerance = Duration.seconds(5)

    /// Distinguishes the limits.
    let name: String
    let limit: Int
    /// The time in which a subject may have `limit` failures.
    let period: Duration
    /// The key of the subjects' digests: people also type passwords where a name belongs.
    let key: [UInt8]

    /// Returns the milliseconds until an attempt is permitted; `nil` if it is now.
    func wait(for subject: String, at now: UnixTime, in connection: ReadConnection) throws -> Int? {
        guard let end = try FailureRecords(connection).end(of: digest(subject)), !isImpossible(end, now) else {
            return nil
        }
        return wait(until: end, now)
    }

    /// Counts a failure.
    ///
    /// - Returns: `nil` if it was below the limit; else the milliseconds until the next attempt is permitted, and nothing is counted.
    func count(_ subject: String, at now: UnixTime, in connection: Connection) throws -> Int? {
        let (records, subject) = (FailureRecords(connection), digest(subject))
        let stored = try records.end(of: subject)
        let end = max(now, min(stored ?? now, now.adding(period)))
        if let wait = wait(until: end, now) {
            // From now on it ends after its time.
            if let stored, isImpossible(stored, now) { try records.setEnd(end, of: subject) }
            return wait
        }
        try records.setEnd(end.adding(interval), of: subject)
        return nil
    }

    /// The time in which one failure is forgiven.
    private var interval: Duration { period / limit }

    private func wait(until end: UnixTime, _ now: UnixTime) -> Int? {
        let wait = end.duration(since: now) + interval - period
        return wait > .zero ? Int((wait / .milliseconds(1)).rounded(.up)) : nil
    }

    private func isImpossible(_ end: UnixTime, _ now: UnixTime) -> Bool {
        end.duration(since: now) > period + Self.clockTolerance
    }

    private func digest(_ subject: String) -> [UInt8] {
        HMAC.sha256(key: key, Array("failures \(name) \(subject)".utf8))
    }
}
