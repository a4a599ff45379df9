import Basics
import Database

package struct SiteRecord: Sendable {
    package let id: Int64
    let organizationID: Int64
    package let name: String
    let status: Availability
    let createdAt: UnixTime
    let updatedAt: UnixTime
}

package enum SiteRecords {
    private static let columns = "id, organization_id, name, status, created_at, updated_at"

    /// - Returns: `nil` when the organization has a site of that name.
    package static func insert(
        organizationID: Int64, name: String, status: Availability, at now: UnixTime, in connection: Connection
    ) throws -> SiteRecord? {
        try connection.first(
            """
            INSERT INTO sites (organization_id, name, status, created_at, updated_at) VALUES ($1, $2, $3, $4, $4)
            ON CONFLICT DO NOTHING RETURNING \(columns)
            """, organizationID, name, status.rawValue, now.microseconds, row: record)
    }

    /// A site of that organization; another's is not found.
    static func find(id: Int64, organizationID: Int64, in connection: Connection) throws -> SiteRecord? {
        try connection.first(
            "SELECT \(columns) FROM sites WHERE id = $1 AND organization_id = $2", id, organizationID, row: record)
    }

    package static func all(organizationID: Int64, in connection: Connection) throws -> [SiteRecord] {
        try connection.query(
            "SELECT \(columns) FROM sites WHERE organization_id = $1 ORDER BY id", organizationID, row: record)
    }

    /// Disabling raises the epoch, so that what was issued for the site's keys stays dead when it is enabled again.
    ///
    /// - Throws: a unique constraint's error when the organization has another site of that name.
    package static func update(
        id: Int64, name: String, status: Availability, at now: UnixTime, in connection: Connection
    ) throws -> SiteRecord? {
        try connection.first(
            """
            UPDATE sites SET name = $2, status = $3, updated_at = $4,
                epoch = epoch + (CASE WHEN CAST($3 AS BIGINT) = 2 THEN 1 ELSE 0 END)
            WHERE id = $1 RETURNING \(columns)
            """, id, name, status.rawValue, now.microseconds, row: record)
    }

    /// - Throws: a foreign key's error when anything refers to it.
    package static func delete(id: Int64, in connection: Connection) throws {
        try connection.execute("DELETE FROM sites WHERE id = $1", id)
    }

    private static func record(_ row: Row) -> SiteRecord {
        SiteRecord(
            id: row.int64(0), organizationID: row.int64(1), name: row.text(2),
            status: Availability(rawValue: row.int64(3)) ?? .disabled, createdAt: row.time(4), updatedAt: row.time(5))
    }
}
