import Basics
import Database

/// A line of the audit log, as it is kept.
package struct AuditRecord: Sendable {
    /// Rises in the order of the commits.
    package let id: Int64
    package let at: UnixTime
    package let entry: AuditEntry
}

package enum AuditRecords {
    /// Times are taken before the lines wait for their commit: a line may be that much older than the one before it.
    private static let slackSeconds: Int64 = 60

    static func insert(_ entry: AuditEntry, at now: UnixTime, in connection: Connection) throws {
        let ids = entry.ids.joined(separator: " ")
        try connection.execute(
            """
            INSERT INTO audit (at, actor, organization_id, organization, action, target, ids, peer, result, count)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
            """, now.microseconds, entry.actor, entry.organization?.id ?? 0, entry.organization?.name ?? "",
            entry.action, entry.target, ids, entry.peer, entry.result, entry.count)
        try connection.execute(
            """
            INSERT INTO audit_usage (organization_id, lines) VALUES ($1, 1 + $2 / 200)
            ON CONFLICT (organization_id) DO UPDATE SET lines = audit_usage.lines + excluded.lines
            """, entry.organization?.id ?? 0, ids.utf8.count)
    }

    /// The id before which no line is as young as `since`.
    static func start(since: UnixTime, in connection: Connection) throws -> Int64 {
        let first = try connection.first(
            "SELECT id FROM audit WHERE at >= $1 ORDER BY at, id LIMIT 1",
            since.adding(seconds: -slackSeconds).microseconds
        ) { $0.int64(0) }
        return try first ?? lastID(in: connection) + 1
    }

    /// The id before which every line is older than so many days.
    static func start(keepingDays days: Int64, _ permit: DeletionPermit, in connection: Connection) throws -> Int64 {
        let oldest = try permit.now().adding(seconds: -days * 86_400)
        // Lines that look older than they are come after some that do not.
        let young = try connection.first(
            "SELECT min(id) FROM audit WHERE at < $1 AND NOT \(permit.isBefore("at", "$1"))", oldest.microseconds
        ) { $0.optionalInt64(0) }
        let start = try start(since: oldest, in: connection)
        return min(start, young.flatMap { $0 } ?? start)
    }

    /// The time of the newest line; `nil` where there is none.
    static func newestTime(in connection: Connection) throws -> UnixTime? {
        try connection.first("SELECT at FROM audit ORDER BY id DESC LIMIT 1") { $0.time(0) }
    }

    /// Lines in the order of their ids, or from the last of them back.
    ///
    /// - Parameters:
    ///   - ids: which may be among them.
    ///   - organization: the id; `nil` = every one's.
    ///   - since: what is older is left out. Asked of each row, and not of the index by time, whose order is another.
    package static func page(
        _ ids: Range<Int64>, newestFirst: Bool = false, organization: Int64?, since: UnixTime, limit: Int,
        in connection: Connection
    ) throws -> [AuditRecord] {
        let columns = "id, at, actor, organization_id, organization, action, target, ids, peer, result, count"
        let rest = "id >= $1 AND id < $2 AND +at >= $3 ORDER BY id \(newestFirst ? "DESC" : "ASC") LIMIT $4"
        let (first, end) = (ids.lowerBound, ids.upperBound)
        if let organization {
            return try connection.query(
                "SELECT \(columns) FROM audit WHERE organization_id = $5 AND \(rest)", first, end, since.microseconds,
                limit, organization, row: record)
        }
        return try connection.query(
            "SELECT \(columns) FROM audit WHERE \(rest)", first, end, since.microseconds, limit, row: record)
    }

    /// 0 where there is no line.
    package static func lastID(in connection: Connection) throws -> Int64 {
        try connection.first("SELECT id FROM audit ORDER BY id DESC LIMIT 1") { $0.int64(0) } ?? 0
    }

    /// The ids of an organization's oldest lines, ascending.
    static func oldest(
        _ count: Int64, of organizationID: Int64, below id: Int64, in connection: Connection
    ) throws -> [Int64] {
        try connection.query(
            "SELECT id FROM audit WHERE organization_id = $1 AND id < $2 ORDER BY id LIMIT $3", organizationID, id,
            max(0, count)
        ) { $0.int64(0) }
    }

    /// Deletes every line of an organization with a lower id: the only deletion that the schema lets through.
    static func purge(below id: Int64, of organizationID: Int64, in connection: Connection) throws {
        try connection.execute(
            """
            UPDATE audit_usage SET purged_below = $2, lines = lines - (
                SELECT coalesce(sum(1 + length(ids) / 200), 0) FROM audit WHERE organization_id = $1 AND id < $2
            ) WHERE organization_id = $1
            """, organizationID, id)
        try connection.execute("DELETE FROM audit WHERE organization_id = $1 AND id < $2", organizationID, id)
    }

    private static func record(_ row: Row) -> AuditRecord {
        let organization = OrganizationReference(id: row.int64(3), name: row.text(4))
        return AuditRecord(
            id: row.int64(0), at: row.time(1),
            entry: AuditEntry(
                actor: row.text(2), organization: organization.name.isEmpty ? nil : organization, action: row.text(5),
                target: row.text(6), ids: row.text(7).split(separator: " ").map(String.init), peer: row.text(8),
                result: row.text(9), count: row.int(10)))
    }
}
