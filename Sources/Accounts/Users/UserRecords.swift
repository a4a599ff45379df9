package import Basics
package import Capability
package import Database

package struct UserRecord: Sendable {
    package let id: Int64
    package let organization: OrganizationReference
    package let isSystem: Bool
    package let name: String
    package let role: Role
    package let passwordHash: String
    package let epoch: Int64
    let lastLoginAt: UnixTime?
    let createdAt: UnixTime
    let updatedAt: UnixTime
    /// Whether the organization requires a second factor beside a password.
    let requiresSecondFactor: Bool

    /// False for service accounts, and for users whom an identity provider signs in.
    package var hasPassword: Bool { !passwordHash.isEmpty }
}

/// A user in a list, with the state of the second factor.
struct ListedUser: Sendable {
    let user: UserRecord
    let hasSecondFactor: Bool

    /// Whether the organization requires a second factor, and the user has to set one up.
    var lacksSecondFactor: Bool { user.requiresSecondFactor && user.hasPassword && !hasSecondFactor }
}

/// The session of a token, with its user.
struct SessionUser: Sendable {
    let user: UserRecord
    let proof: SessionProof
    let lastUsedAt: UnixTime
}

private let columns = """
    u.id, u.organization_id, o.name AS organization, o.kind AS organization_kind, u.name, u.role,
        u.password_hash, u.epoch, u.last_login_at, u.created_at, u.updated_at, o.requires_second_factor
    """
private let select = """
    SELECT \(columns)
    FROM users u JOIN organizations o ON o.id = u.organization_id
    """

/// Built once, because it is used at each call of a person.
private let bySession = """
    SELECT \(columns), s.proof, s.last_used_at AS session_used_at
    FROM users u JOIN organizations o ON o.id = u.organization_id
        JOIN sessions s ON s.id = $2 AND s.user_id = u.id
    WHERE u.id = $1
    """

package struct UserRecords<C: ReadConnection> {
    let connection: C

    package init(_ connection: C) {
        self.connection = connection
    }

    /// - Returns: `nil` if the organization already has a user of that name.
    package func insert(
        organizationID: Int64, name: String, role: Role, passwordHash: String, at now: UnixTime
    ) throws -> UserRecord? where C == Connection {
        let id = try connection.first(
            """
            INSERT INTO users (organization_id, name, role, password_hash, created_at, updated_at)
            VALUES ($1, $2, $3, $4, $5, $5) ON CONFLICT DO NOTHING RETURNING id
            """, organizationID, name, role.rawValue, passwordHash, now.microseconds
        ) { $0.int64("id") }
        return try id.flatMap { try find(id: $0) }
    }

    package func find(id: Int64) throws -> UserRecord? {
        try connection.first("\(select) WHERE u.id = $1", id, row: Self.record)
    }

    /// Returns the user if the session has not ended.
    func find(id: Int64, session: String) throws -> SessionUser? {
        try connection.first(bySession, id, session) { row in
            SessionUser(
                user: Self.record(row), proof: SessionProof(rawValue: row.int64("proof")) ?? .password,
                lastUsedAt: row.time("session_used_at"))
        }
    }

    package func find(organizationID: Int64, name: String) throws -> UserRecord? {
        try connection.first(
            "\(select) WHERE u.organization_id = $1 AND u.name = $2", organizationID, name, row: Self.record)
    }

    package func find(organization: String, name: String) throws -> UserRecord? {
        try connection.first("\(select) WHERE o.name = $1 AND u.name = $2", organization, name, row: Self.record)
    }

    /// Returns the users of an organization with ids above `id`, in their order, with the states of their second factors.
    func list(organizationID: Int64, after id: Int64 = 0, limit: PageLimit) throws -> PageRows<ListedUser> {
        try connection.page(
            limit,
            """
            SELECT \(columns), f.confirmed_at AS second_factor_confirmed_at
            FROM users u JOIN organizations o ON o.id = u.organization_id
                LEFT JOIN second_factors f ON f.user_id = u.id
            WHERE u.organization_id = $1 AND u.id > $2 ORDER BY u.id LIMIT $3
            """, organizationID, id, limit.statementRows
        ) { row in
            ListedUser(
                user: Self.record(row), hasSecondFactor: row.optionalTime("second_factor_confirmed_at") != nil)
        }
    }

    /// Returns the number of admins with a password, who can sign in whatever happens to identity providers.
    package func localAdminCount(organizationID: Int64) throws -> Int {
        try connection.first(
            """
            SELECT count(*) AS admins FROM users
            WHERE organization_id = $1 AND role = 'admin' AND password_hash <> ''
            """, organizationID
        ) { $0.int("admins") } ?? 0
    }

    /// Whether the user is the last admin of the organization who has a password.
    package func isLastLocalAdmin(_ user: UserRecord) throws -> Bool {
        try user.role == .admin && user.hasPassword && localAdminCount(organizationID: user.organization.id) <= 1
    }

    /// Updates a user and increases the epoch, which revokes every token issued before.
    ///
    /// - Parameter passwordHash: `nil` = unchanged.
    package func update(
        id: Int64, role: Role, passwordHash: String?, at now: UnixTime
    ) throws where C == Connection {
        try connection.execute(
            """
            UPDATE users SET role = $2, password_hash = coalesce($3, password_hash), epoch = epoch + 1, updated_at = $4
            WHERE id = $1
            """, id, role.rawValue, passwordHash, now.microseconds)
    }

    /// Changes a user's role, and the password unless it is `nil`. This ends the user's sessions and tokens, and the invitations of one who
    /// is no admin afterwards.
    func change(_ id: Int64, role: Role, passwordHash: String?, at now: UnixTime) throws where C == Connection {
        try update(id: id, role: role, passwordHash: passwordHash, at: now)
        try SessionRecords(connection).deleteAll(userID: id)
        if role < .admin { try InvitationRecords(connection).deleteAll(inviterID: id) }
    }

    /// Only for ``UserRemoval``.
    func delete(id: Int64) throws where C == Connection {
        try connection.execute("DELETE FROM users WHERE id = $1", id)
    }

    package func noteLogin(id: Int64, at now: UnixTime) throws where C == Connection {
        try connection.execute("UPDATE users SET last_login_at = $2 WHERE id = $1", id, now.microseconds)
    }

    /// Replaces the password; nothing is revoked.
    func setPassword(id: Int64, hash: String, at now: UnixTime) throws where C == Connection {
        try connection.execute(
            "UPDATE users SET password_hash = $2, updated_at = $3 WHERE id = $1", id, hash, now.microseconds)
    }

    /// Replaces a weaker hash of the same password; nothing is revoked.
    package func replaceHash(id: Int64, old: String, new: String) throws where C == Connection {
        try connection.execute(
            "UPDATE users SET password_hash = $3 WHERE id = $1 AND password_hash = $2", id, old, new)
    }

    private static func record(_ row: Row) -> UserRecord {
        UserRecord(
            id: row.int64("id"),
            organization: OrganizationReference(id: row.int64("organization_id"), name: row.text("organization")),
            isSystem: row.int64("organization_kind") == OrganizationRecord.Kind.system.rawValue, name: row.text("name"),
            role: Role(rawValue: row.text("role")) ?? .member, passwordHash: row.text("password_hash"),
            epoch: row.int64("epoch"),
            lastLoginAt: row.optionalTime("last_login_at"), createdAt: row.time("created_at"),
            updatedAt: row.time("updated_at"), requiresSecondFactor: row.bool("requires_second_factor"))
    }
}
