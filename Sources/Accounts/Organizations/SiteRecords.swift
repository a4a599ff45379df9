package import Basics
package import Database
import GatewayAPI

package struct SiteRecord: Sendable {
    package let id: Int64
    let organizationID: Int64
    package let name: String
    let status: Availability
    let createdAt: UnixTime
    let updatedAt: UnixTime
    /// A name of the time zone database; empty = none is set.
    let timeZone: String
    /// The time without a call after which a device of the site is reported as silent; 0 = never, `nil` = that of the configuration.
    let silentAfterHours: Int64?
}

private let columns = "id, organization_id, name, status, created_at, updated_at, time_zone, silent_after_hours"

package struct SiteRecords<C: ReadConnection> {
    let connection: C

    package init(_ connection: C) {
        self.connection = connection
    }

    /// - Returns: `nil` if the organization already has a site of that name.
    package func insert(
        organizationID: Int64, name: String, status: Availability, timeZone: String = "", at now: UnixTime
    ) throws -> SiteRecord? where C == Connection {
        let site = try connection.first(
            """
            INSERT INTO sites (organization_id, name, status, created_at, updated_at, time_zone)
            VALUES ($1, $2, $3, $4, $4, $5) ON CONFLICT DO NOTHING RETURNING \(columns)
            """, organizationID, name, status.rawValue, now.microseconds, timeZone, row: Self.record)
        if site != nil { try DisplayNameRecords(connection).noteChange(organizationID: organizationID) }
        return site
    }

    /// Returns a site of that organization; does not find sites of other organizations.
    package func find(id: Int64, organizationID: Int64) throws -> SiteRecord? {
        try connection.first(
            "SELECT \(columns) FROM sites WHERE id = $1 AND organization_id = $2", id, organizationID,
            row: Self.record)
    }

    /// Returns the names of sites by id.
    func names(of ids: [Int64]) throws -> [Int64: String] {
        guard !ids.isEmpty else { return [:] }
        let ids = ParameterList.padded(ids)
        let names = try connection.query(
            "SELECT id, name FROM sites WHERE id IN (\(ParameterList.text(ids.count)))", arguments: ids
        ) { ($0.int64("id"), $0.text("name")) }
        return Dictionary(uniqueKeysWithValues: names)
    }

    /// Returns the sites of an organization with ids above `id`, in their order.
    package func page(organizationID: Int64, after id: Int64 = 0, limit: PageLimit) throws -> PageRows<SiteRecord> {
        try connection.page(
            limit, "SELECT \(columns) FROM sites WHERE organization_id = $1 AND id > $2 ORDER BY id LIMIT $3",
            organizationID, id, limit.statementRows, row: Self.record)
    }

    /// Updates a site. Disabling increases the epoch, so that everything issued for the site's keys stays invalid after the site is
    /// enabled again.
    ///
    /// - Parameter timeZone: `nil` = it stays.
    /// - Throws: a unique-constraint error if the organization has another site of that name.
    package func update(
        id: Int64, name: String, status: Availability, timeZone: String? = nil, at now: UnixTime
    ) throws -> SiteRecord? where C == Connection {
        let site = try connection.first(
            """
            UPDATE sites SET name = $2, status = $3, updated_at = $4, time_zone = coalesce($5, time_zone),
                epoch = epoch + (CASE WHEN CAST($3 AS BIGINT) = 2 THEN 1 ELSE 0 END)
            WHERE id = $1 RETURNING \(columns)
            """, id, name, status.rawValue, now.microseconds, timeZone, row: Self.record)
        if let site { try DisplayNameRecords(connection).noteChange(organizationID: site.organizationID) }
        return site
    }

    func setSilenceLimit(_ limit: SilenceLimit, of id: Int64) throws where C == Connection {
        try connection.execute("UPDATE sites SET silent_after_hours = $2 WHERE id = $1", id, limit.hours)
    }

    /// - Throws: a foreign-key error if anything refers to the site.
    package func delete(id: Int64) throws where C == Connection {
        try connection.execute("DELETE FROM sites WHERE id = $1", id)
    }

    private static func record(_ row: Row) -> SiteRecord {
        SiteRecord(
            id: row.int64("id"), organizationID: row.int64("organization_id"), name: row.text("name"),
            status: Availability(rawValue: row.int64("status")) ?? .disabled, createdAt: row.time("created_at"),
            updatedAt: row.time("updated_at"), timeZone: row.text("time_zone"),
            silentAfterHours: row.optionalInt64("silent_after_hours"))
    }
}
