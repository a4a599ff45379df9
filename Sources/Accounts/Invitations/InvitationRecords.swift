import Basics
import Capability
import Database

/// An invitation to an organization, with what decides whether it is still open.
struct InvitationRecord: Sendable {
    let id: String
    let organization: OrganizationReference
    /// Whether the organization requires a second factor beside a password.
    let requiresSecondFactor: Bool
    /// The name that the user will have.
    let userName: String
    let role: Role
    let inviter: Inviter
    let createdAt: UnixTime
    let expiresAt: UnixTime

    /// The user who made the invitation, as they are now.
    struct Inviter: Sendable {
        let id: Int64
        let name: String
        let organization: String
        let role: Role
    }

    /// Whether it can be accepted: its time is not over, and its inviter may still create such a user.
    func isOpen(at now: UnixTime) -> Bool {
        now < expiresAt && inviter.role >= max(role, .admin)
    }
}

private let select = """
    SELECT i.id, i.organization_id, o.name AS organization, o.requires_second_factor, i.user_name, i.role, i.inviter_id,
        u.name AS inviter, u.role AS inviter_role, h.name AS inviter_organization, i.created_at, i.expires_at
    FROM invitations i JOIN organizations o ON o.id = i.organization_id
        JOIN users u ON u.id = i.inviter_id JOIN organizations h ON h.id = u.organization_id
    """

/// The rows of invitations. A row is deleted when its invitation is accepted or withdrawn, with its inviter, and by a sweep after its
/// time.
struct InvitationRecords<C: ReadConnection> {
    static var migration: Migration {
        Migration(
            name: "accounts-invitations",
            sql: """
                -- A link with which somebody becomes the user user_name; deleted when it is used. digest: a keyed digest of its token.
                CREATE TABLE invitations (
                    id TEXT PRIMARY KEY,
                    organization_id INTEGER NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
                    inviter_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
                    user_name TEXT NOT NULL,
                    role TEXT NOT NULL,
                    digest BLOB NOT NULL UNIQUE,
                    created_at INTEGER NOT NULL,
                    expires_at INTEGER NOT NULL
                ) STRICT;
                CREATE INDEX invitations_organization ON invitations (organization_id, id);
                CREATE INDEX invitations_inviter ON invitations (inviter_id);
                CREATE INDEX invitations_expiry ON invitations (expires_at);
                """)
    }

    let connection: C

    init(_ connection: C) { self.connection = connection }

    func insert(_ record: InvitationRecord, digest: [UInt8]) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO invitations (id, organization_id, inviter_id, user_name, role, digest, created_at, expires_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            """, record.id, record.organization.id, record.inviter.id, record.userName, record.role.rawValue, digest,
            record.createdAt.microseconds, record.expiresAt.microseconds)
    }

    func find(digest: [UInt8]) throws -> InvitationRecord? {
        try connection.first("\(select) WHERE i.digest = $1", digest, row: Self.record)
    }

    /// Returns the number of an organization's invitations whose time is not over.
    func count(organizationID: Int64, at now: UnixTime) throws -> Int {
        try connection.first(
            "SELECT count(*) AS invitations FROM invitations WHERE organization_id = $1 AND expires_at > $2",
            organizationID, now.microseconds
        ) { $0.int("invitations") } ?? 0
    }

    /// Whether the organization has an invitation for the name whose time is not over.
    func contain(organizationID: Int64, userName: String, at now: UnixTime) throws -> Bool {
        try connection.first(
            "SELECT id FROM invitations WHERE organization_id = $1 AND user_name = $2 AND expires_at > $3 LIMIT 1",
            organizationID, userName, now.microseconds
        ) { $0.text("id") } != nil
    }

    /// Returns the invitations of an organization whose time is not over, with ids above `id`, in their order.
    func page(
        organizationID: Int64, after id: String, at now: UnixTime, limit: PageLimit
    ) throws -> PageRows<InvitationRecord> {
        try connection.page(
            limit, "\(select) WHERE i.organization_id = $1 AND i.id > $2 AND i.expires_at > $3 ORDER BY i.id LIMIT $4",
            organizationID, id, now.microseconds, limit.statementRows, row: Self.record)
    }

    /// Deletes an invitation of an organization.
    ///
    /// - Returns: the user name of the invitation; `nil` if it does not exist, or its time is over.
    func delete(id: String, organizationID: Int64, at now: UnixTime) throws -> String? where C == Connection {
        try connection.first(
            """
            DELETE FROM invitations WHERE id = $1 AND organization_id = $2 AND expires_at > $3 RETURNING user_name
            """, id, organizationID, now.microseconds
        ) { $0.text("user_name") }
    }

    /// Deletes the invitations that a user has made.
    func deleteAll(inviterID: Int64) throws where C == Connection {
        try connection.execute("DELETE FROM invitations WHERE inviter_id = $1", inviterID)
    }

    /// Deletes invitations whose time is over.
    ///
    /// - Returns: the number of deleted rows; fewer than `limit` if none is left.
    func deleteExpired(limit: Int, _ permit: DeletionPermit) throws -> Int where C == Connection {
        try connection.execute(
            """
            DELETE FROM invitations WHERE id IN (
                SELECT id FROM invitations WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)
            """, try permit.now().microseconds, limit)
    }

    private static func record(_ row: Row) -> InvitationRecord {
        InvitationRecord(
            id: row.text("id"),
            organization: OrganizationReference(id: row.int64("organization_id"), name: row.text("organization")),
            requiresSecondFactor: row.bool("requires_second_factor"), userName: row.text("user_name"),
            role: Role(rawValue: row.text("role")) ?? .member,
            inviter: InvitationRecord.Inviter(
                id: row.int64("inviter_id"), name: row.text("inviter"),
                organization: row.text("inviter_organization"),
                role: Role(rawValue: row.text("inviter_role")) ?? .member),
            createdAt: row.time("created_at"), expiresAt: row.time("expires_at"))
    }
}
