package import Basics
import Database

/// An account of an identity provider with which a user can sign in.
package struct UserIdentityRecord: Sendable {
    let id: Int64
    let userID: Int64
    let organizationID: Int64
    package let issuer: String
    package let subject: String
    package let email: String?
    let isEmailVerified: Bool
    package let createdAt: UnixTime
    package let lastUsedAt: UnixTime
}

private let select = """
    SELECT id, user_id, organization_id, issuer, subject, email, email_verified, created_at, last_used_at
    FROM user_identities
    """

struct UserIdentityRecords<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    /// - Parameter email: in the form in which addresses are compared.
    func insert(
        _ identity: IdentityKey, userID: Int64, email: String?, isEmailVerified: Bool, at now: UnixTime
    ) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO user_identities
                (user_id, organization_id, issuer, subject, email, email_verified, created_at, last_used_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $7)
            """, userID, identity.organizationID, identity.issuer, identity.subject, email,
            isEmailVerified ? 1 : 0, now.microseconds)
    }

    func find(_ identity: IdentityKey) throws -> UserIdentityRecord? {
        try connection.first(
            "\(select) WHERE organization_id = $1 AND issuer = $2 AND subject = $3", identity.organizationID,
            identity.issuer, identity.subject, row: Self.record)
    }

    func find(id: Int64) throws -> UserIdentityRecord? {
        try connection.first("\(select) WHERE id = $1", id, row: Self.record)
    }

    func all(userID: Int64) throws -> [UserIdentityRecord] {
        try connection.query("\(select) WHERE user_id = $1 ORDER BY id", userID, row: Self.record)
    }

    /// Returns the identities of an organization with a verified address.
    func all(verifiedEmail: String, organizationID: Int64) throws -> [UserIdentityRecord] {
        try connection.query(
            "\(select) WHERE organization_id = $1 AND email = $2 AND email_verified = 1 ORDER BY id",
            organizationID, verifiedEmail, row: Self.record)
    }

    /// Returns the identities of an organization with an address, verified or not.
    ///
    /// - Parameter email: in the form in which addresses are compared.
    func all(email: String, organizationID: Int64, limit: Int) throws -> [UserIdentityRecord] {
        try connection.query(
            "\(select) WHERE organization_id = $1 AND email = $2 ORDER BY id LIMIT $3", organizationID, email, limit,
            row: Self.record)
    }

    func noteUse(id: Int64, at now: UnixTime) throws where C == Connection {
        try connection.execute("UPDATE user_identities SET last_used_at = $2 WHERE id = $1", id, now.microseconds)
    }

    func delete(id: Int64) throws where C == Connection {
        try connection.execute("DELETE FROM user_identities WHERE id = $1", id)
    }

    private static func record(_ row: Row) -> UserIdentityRecord {
        UserIdentityRecord(
            id: row.int64("id"), userID: row.int64("user_id"), organizationID: row.int64("organization_id"),
            issuer: row.text("issuer"), subject: row.text("subject"), email: row.optionalText("email"),
            isEmailVerified: row.int64("email_verified") == 1, createdAt: row.time("created_at"),
            lastUsedAt: row.time("last_used_at"))
    }
}

/// The account of a provider, within an organization of the gateway.
struct IdentityKey: Sendable, Hashable {
    let organizationID: Int64
    let issuer: String
    let subject: String
}
