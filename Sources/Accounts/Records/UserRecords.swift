import Basics
import Database

package struct UserRecord: Sendable {
    package let id: Int64
    let organization: OrganizationReference
    let isSystem: Bool
    let name: String
    let role: Role
    let passwordHash: String
    let epoch: Int64
    let lastLoginAt: UnixTime?
    let createdAt: UnixTime
    let updatedAt: UnixTime
}

package enum UserRecords {
    private static let select = """
        SELECT u.id, u.organization_id, o.name, o.kind, u.name, u.role, u.password_hash, u.epoch, u.last_login_at,
            u.created_at, u.updated_at
        FROM users u JOIN organizations o ON o.id = u.organization_id
        """

    /// - Returns: `nil` when the organization has a user of that name.
    package static func insert(
        organizationID: Int64, name: String, role: Role, passwordHash: String, at now: UnixTime,
        in connection: Connection
    ) throws -> UserRecord? {
        let id = try connection.first(
            """
            INSERT INTO users (organization_id, name, role, password_hash, created_at, updated_at)
            VALUES ($1, $2, $3, $4, $5, $5) ON CONFLICT DO NOTHING RETURNING id
            """, organizationID, name, role.rawValue, passwordHash, now.microseconds
        ) { $0.int64(0) }
        return try id.flatMap { try find(id: $0, in: connection) }
    }

    static func find(id: Int64, in connection: Connection) throws -> UserRecord? {
        try connection.first("\(select) WHERE u.id = $1", id, row: record)
    }

    static func find(organizationID: Int64, name: String, in connection: Connection) throws -> UserRecord? {
        try connection.first(
            "\(select) WHERE u.organization_id = $1 AND u.name = $2", organizationID, name, row: record)
    }

    static func find(organization: String, name: String, in connection: Connection) throws -> UserRecord? {
        try connection.first("\(select) WHERE o.name = $1 AND u.name = $2", organization, name, row: record)
    }

    static func all(organizationID: Int64, in connection: Connection) throws -> [UserRecord] {
        try connection.query("\(select) WHERE u.organization_id = $1 ORDER BY u.id", organizationID, row: record)
    }

    static func adminCount(organizationID: Int64, in connection: Connection) throws -> Int {
        try connection.first(
            "SELECT count(*) FROM users WHERE organization_id = $1 AND role = 'admin'", organizationID
        ) { $0.int(0) } ?? 0
    }

    /// Raises the epoch, so that every token issued before stops.
    ///
    /// - Parameter passwordHash: `nil` = as it was.
    static func update(
        id: Int64, role: Role, passwordHash: String?, at now: UnixTime, in connection: Connection
    ) throws {
        try connection.execute(
            """
            UPDATE users SET role = $2, password_hash = coalesce($3, password_hash), epoch = epoch + 1, updated_at = $4
            WHERE id = $1
            """, id, role.rawValue, passwordHash, now.microseconds)
    }

    static func delete(id: Int64, in connection: Connection) throws {
        try connection.execute("DELETE FROM users WHERE id = $1", id)
    }

    static func noteLogin(id: Int64, at now: UnixTime, in connection: Connection) throws {
        try connection.execute("UPDATE users SET last_login_at = $2 WHERE id = $1", id, now.microseconds)
    }

    /// For a hash of today's strength in the place of an older one; nothing is revoked.
    static func replaceHash(id: Int64, old: String, new: String, in connection: Connection) throws {
        try connection.execute(
            "UPDATE users SET password_hash = $3 WHERE id = $1 AND password_hash = $2", id, old, new)
    }

    private static func record(_ row: Row) -> UserRecord {
        UserRecord(
            id: row.int64(0), organization: OrganizationReference(id: row.int64(1), name: row.text(2)),
            isSystem: row.int64(3) == OrganizationRecord.Kind.system.rawValue, name: row.text(4),
            role: Role(rawValue: row.text(5)) ?? .viewer, passwordHash: row.text(6), epoch: row.int64(7),
            lastLoginAt: row.optionalTime(8), createdAt: row.time(9), updatedAt: row.time(10))
    }
}
