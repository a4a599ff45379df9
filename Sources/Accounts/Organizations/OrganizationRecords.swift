package import Basics
package import Database

package struct OrganizationRecord: Sendable {
    package enum Kind: Int64, Sendable {
        case business = 1
        case system = 2
    }

    package let id: Int64
    let name: String
    let displayName: String
    let kind: Kind
    let createdAt: UnixTime
    let updatedAt: UnixTime

    var reference: OrganizationReference { OrganizationReference(id: id, name: name) }
}

private let columns = "id, name, display_name, kind, created_at, updated_at"

package struct OrganizationRecords<C: ReadConnection> {
    let connection: C

    package init(_ connection: C) {
        self.connection = connection
    }

    package func insert(
        name: String, displayName: String, kind: OrganizationRecord.Kind, at now: UnixTime
    ) throws -> OrganizationRecord? where C == Connection {
        try connection.first(
            """
            INSERT INTO organizations (name, display_name, kind, created_at, updated_at) VALUES ($1, $2, $3, $4, $4)
            ON CONFLICT DO NOTHING RETURNING \(columns)
            """, name, displayName, kind.rawValue, now.microseconds, row: Self.record)
    }

    package func find(name: String) throws -> OrganizationRecord? {
        try connection.first("SELECT \(columns) FROM organizations WHERE name = $1", name, row: Self.record)
    }

    package func setDisplayName(
        _ displayName: String, of name: String, at now: UnixTime
    ) throws -> OrganizationRecord? where C == Connection {
        try connection.first(
            "UPDATE organizations SET display_name = $2, updated_at = $3 WHERE name = $1 RETURNING \(columns)",
            name,
            displayName, now.microseconds, row: Self.record)
    }

    /// - Throws: a constraint error if anything except its users and announcements refers to the organization.
    package func delete(id: Int64) throws where C == Connection {
        try connection.execute("DELETE FROM address_announcements WHERE organization_id = $1", id)
        try connection.execute("DELETE FROM device_address_serials WHERE organization_id = $1", id)
        try connection.execute("DELETE FROM users WHERE organization_id = $1", id)
        try connection.execute("DELETE FROM organizations WHERE id = $1", id)
    }

    func requiresSecondFactor(id: Int64) throws -> Bool {
        try connection.first("SELECT requires_second_factor FROM organizations WHERE id = $1", id) {
            $0.bool("requires_second_factor")
        } ?? false
    }

    func setRequiresSecondFactor(_ isRequired: Bool, id: Int64, at now: UnixTime) throws where C == Connection {
        try connection.execute(
            "UPDATE organizations SET requires_second_factor = $2, updated_at = $3 WHERE id = $1", id, isRequired,
            now.microseconds)
    }

    package func reference(id: Int64) throws -> OrganizationReference? {
        try connection.first("SELECT name FROM organizations WHERE id = $1", id) {
            OrganizationReference(id: id, name: $0.text("name"))
        }
    }

    /// Returns the names of organizations by their ids.
    ///
    /// - Parameter known: an organization whose name is not read.
    package func names(of ids: Set<Int64>, known: OrganizationReference? = nil) throws -> [Int64: String] {
        try ids.reduce(into: [:]) { names, id in
            names[id] = try id == known?.id ? known?.name : reference(id: id)?.name
        }
    }

    /// Returns the organizations with ids above `id`, in their order.
    func page(after id: Int64, limit: PageLimit) throws -> PageRows<OrganizationRecord> {
        try connection.page(
            limit, "SELECT \(columns) FROM organizations WHERE id > $1 ORDER BY id LIMIT $2", id,
            limit.statementRows, row: Self.record)
    }

    package func all() throws -> [OrganizationRecord] {
        try connection.query("SELECT \(columns) FROM organizations ORDER BY id", row: Self.record)
    }

    private static func record(_ row: Row) -> OrganizationRecord {
        OrganizationRecord(
            id: row.int64("id"), name: row.text("name"), displayName: row.text("display_name"),
            kind: OrganizationRecord.Kind(rawValue: row.int64("kind")) ?? .business, createdAt: row.time("created_at"),
            updatedAt: row.time("updated_at"))
    }
}
