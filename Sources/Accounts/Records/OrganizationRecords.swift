import Basics
import Database

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

package enum OrganizationRecords {
    private static let columns = "id, name, display_name, kind, created_at, updated_at"

    package static func insert(
        name: String, displayName: String, kind: OrganizationRecord.Kind, at now: UnixTime, in connection: Connection
    ) throws -> OrganizationRecord? {
        try connection.first(
            """
            INSERT INTO organizations (name, display_name, kind, created_at, updated_at) VALUES ($1, $2, $3, $4, $4)
            ON CONFLICT DO NOTHING RETURNING \(columns)
            """, name, displayName, kind.rawValue, now.microseconds, row: record)
    }

    static func find(name: String, in connection: Connection) throws -> OrganizationRecord? {
        try connection.first("SELECT \(columns) FROM organizations WHERE name = $1", name, row: record)
    }

    static func setDisplayName(
        _ displayName: String, of name: String, at now: UnixTime, in connection: Connection
    ) throws -> OrganizationRecord? {
        try connection.first(
            "UPDATE organizations SET display_name = $2, updated_at = $3 WHERE name = $1 RETURNING \(columns)", name,
            displayName, now.microseconds, row: record)
    }

    /// - Throws: a constraint's error where anything but its users refers to it.
    package static func delete(id: Int64, in connection: Connection) throws {
        try connection.execute("DELETE FROM users WHERE organization_id = $1", id)
        try connection.execute("DELETE FROM organizations WHERE id = $1", id)
    }

    static func reference(id: Int64, in connection: Connection) throws -> OrganizationReference? {
        try connection.first("SELECT name FROM organizations WHERE id = $1", id) {
            OrganizationReference(id: id, name: $0.text(0))
        }
    }

    static func all(in connection: Connection) throws -> [OrganizationRecord] {
        try connection.query("SELECT \(columns) FROM organizations ORDER BY id", row: record)
    }

    private static func record(_ row: Row) -> OrganizationRecord {
        OrganizationRecord(
            id: row.int64(0), name: row.text(1), displayName: row.text(2),
            kind: OrganizationRecord.Kind(rawValue: row.int64(3)) ?? .business, createdAt: row.time(4),
            updatedAt: row.time(5))
    }
}
