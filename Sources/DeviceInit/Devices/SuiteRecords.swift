import Basics
import Database
import GatewayAPI

/// A suite: devices of one site that belong together.
struct SuiteRecord: Sendable {
    let id: Int64
    let organizationID: Int64
    let siteID: Int64
    let displayName: String
    let description: String
    /// The time without a call after which a device of the suite is reported as silent; 0 = never, `nil` = that of its site.
    let silentAfterHours: Int64?
    let createdAt: UnixTime
    let updatedAt: UnixTime
}

private let columns = """
    id, organization_id, site_id, display_name, description, silent_after_hours, created_at, updated_at
    """

struct SuiteRecords<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    func insert(
        organizationID: Int64, siteID: Int64, displayName: String, description: String, at now: UnixTime
    ) throws -> SuiteRecord? where C == Connection {
        try connection.first(
            """
            INSERT INTO device_suites (organization_id, site_id, display_name, description, created_at, updated_at)
            VALUES ($1, $2, $3, $4, $5, $5) RETURNING \(columns)
            """, organizationID, siteID, displayName, description, now.microseconds, row: Self.record)
    }

    /// Returns a suite of that organization; does not find suites of other organizations.
    func find(_ id: Int64, organizationID: Int64) throws -> SuiteRecord? {
        try connection.first(
            "SELECT \(columns) FROM device_suites WHERE id = $1 AND organization_id = $2", id, organizationID,
            row: Self.record)
    }

    /// Returns suites after `cursor`, by id.
    ///
    /// - Parameter siteID: `nil` = of any site.
    func page(
        organizationID: Int64, siteID: Int64?, after cursor: Int64, limit: PageLimit
    ) throws -> PageRows<SuiteRecord> {
        try connection.page(
            limit,
            """
            SELECT \(columns) FROM device_suites
            WHERE organization_id = $1 AND id > $2 AND (CAST($3 AS BIGINT) IS NULL OR site_id = $3) ORDER BY id LIMIT $4
            """, organizationID, cursor, siteID, limit.statementRows, row: Self.record)
    }

    /// Returns the id of any device in the suite.
    func someDevice(of id: Int64) throws -> String? {
        try connection.first("SELECT id FROM devices WHERE suite_id = $1 ORDER BY id LIMIT 1", id) { $0.text("id") }
    }

    func describe(_ id: Int64, displayName: String, description: String, at now: UnixTime) throws
    where C == Connection {
        try connection.execute(
            "UPDATE device_suites SET display_name = $2, description = $3, updated_at = $4 WHERE id = $1",
            id, displayName, description, now.microseconds)
    }

    func setSilenceLimit(_ limit: SilenceLimit, of id: Int64) throws where C == Connection {
        try connection.execute("UPDATE device_suites SET silent_after_hours = $2 WHERE id = $1", id, limit.hours)
    }

    func delete(_ id: Int64) throws where C == Connection {
        try connection.execute("DELETE FROM device_suites WHERE id = $1", id)
    }

    private static func record(_ row: Row) -> SuiteRecord {
        SuiteRecord(
            id: row.int64("id"), organizationID: row.int64("organization_id"), siteID: row.int64("site_id"),
            displayName: row.text("display_name"),
            description: row.text("description"), silentAfterHours: row.optionalInt64("silent_after_hours"),
            createdAt: row.time("created_at"), updatedAt: row.time("updated_at"))
    }
}
