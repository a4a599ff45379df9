import Database
import Platform

/// A line of the audit log, as it is kept.
struct AuditRecord: Sendable {
    /// Rises in the order of the commits.
    let id: Int64
    let at: UnixTime
    let entry: AuditEntry
}

enum AuditRecords {
    /// Times are taken before the lines wait for their commit: a line may be that much older than the one before it.
    private static let slackSeconds: Int64 = 60

    static func insert(_ entry: AuditEntry, at now: UnixTime, in connection: Connection) throws {
        try connection.execute(
            """
            INSERT INTO audit (at, actor, organization, action, target, peer, result, count)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            """, now.microseconds, entry.actor, entry.organization, entry.action, entry.target, entry.peer,
            entry.result, entry.count)
    }

    /// The id before which no line is as young as `since`.
    static func start(since: UnixTime, in connection: Connection) throws -> Int64 {
        let first = try connection.first(
            "SELECT id FROM audit WHERE at >= $1 ORDER BY at, id LIMIT 1",
            since.adding(seconds: -slackSeconds).microseconds
        ) { $0.int64(0) }
        return try first ?? lastID(in: connection) + 1
    }

    /// Lines in the order of their ids, or from the last of them back.
    ///
    /// - Parameters:
    ///   - ids: which may be among them.
    ///   - organization: `nil` = every one's.
    ///   - since: what is older is left out. Asked of each row, and not of the index by time, whose order is another.
    static func page(
        _ ids: Range<Int64>, newestFirst: Bool = false, organization: String?, since: UnixTime, limit: Int,
        in connection: Connection
    ) throws -> [AuditRecord] {
        let columns = "id, at, actor, organization, action, target, peer, result, count"
        let rest = "id >= $1 AND id < $2 AND +at >= $3 ORDER BY id \(newestFirst ? "DESC" : "ASC") LIMIT $4"
        let (first, end) = (ids.lowerBound, ids.upperBound)
        if let organization {
            return try connection.query(
                "SELECT \(columns) FROM audit WHERE organization = $5 AND \(rest)", first, end, since.microseconds,
                limit, organization, row: record)
        }
        return try connection.query(
            "SELECT \(columns) FROM audit WHERE \(rest)", first, end, since.microseconds, limit, row: record)
    }

    static func firstID(in connection: Connection) throws -> Int64? {
        try connection.first("SELECT id FROM audit ORDER BY id LIMIT 1") { $0.int64(0) }
    }

    /// 0 where there is no line.
    static func lastID(in connection: Connection) throws -> Int64 {
        try connection.first("SELECT id FROM audit ORDER BY id DESC LIMIT 1") { $0.int64(0) } ?? 0
    }

    /// Deletes every line with a lower id: the only deletion that the schema lets through.
    static func purge(below id: Int64, in connection: Connection) throws {
        try connection.execute("UPDATE audit_purge SET purged_below = $1", id)
        try connection.execute("DELETE FROM audit WHERE id < $1", id)
    }

    private static func record(_ row: Row) -> AuditRecord {
        AuditRecord(
            id: row.int64(0), at: row.time(1),
            entry: AuditEntry(
                actor: row.text(2), organization: row.text(3), action: row.text(4), target: row.text(5),
                peer: row.text(6), result: row.text(7), count: row.int(8)))
    }
}
