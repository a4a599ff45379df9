import Basics
import Capability
import Database

/// An API token of a person.
struct APITokenRecord: Sendable {
    let id: String
    let userID: Int64
    let name: String
    let digest: [UInt8]
    let scope: APITokenScope
    let createdAt: UnixTime
    let expiresAt: UnixTime
    var lastUsedAt: UnixTime?
    var lastAddress = ""
}

/// The rights of an API token, of which it never has more than its user.
struct APITokenScope: Sendable, Hashable {
    let role: Role
    /// The ids of the organizations for which it may act; `nil` = all for which its user may. A deleted organization stays in the
    /// list, so that a limited token never becomes an unlimited one.
    let organizations: [Int64]?
}

private let select = """
    SELECT id, user_id, name, digest, role, organizations, created_at, expires_at, last_used_at, last_address
    FROM api_tokens
    """

/// Built once, because it is used at each call by a token.
private let byID = "\(select) WHERE id = $1"

struct APITokenRecords<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    /// - Returns: whether it was inserted: the user has no other token of that name.
    func insert(_ token: APITokenRecord) throws -> Bool where C == Connection {
        let organizations = token.scope.organizations?.map(String.init).joined(separator: ",") ?? ""
        return try connection.execute(
            """
            INSERT INTO api_tokens (id, user_id, name, digest, role, organizations, created_at, expires_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING
            """, token.id, token.userID, token.name, token.digest, token.scope.role.rawValue, organizations,
            token.createdAt.microseconds, token.expiresAt.microseconds) == 1
    }

    func find(id: String) throws -> APITokenRecord? {
        try connection.first(byID, id, row: Self.record)
    }

    /// Returns a user's tokens, the newest first.
    func all(userID: Int64) throws -> [APITokenRecord] {
        try connection.query(
            "\(select) WHERE user_id = $1 ORDER BY created_at DESC, id", userID, row: Self.record)
    }

    func count(userID: Int64) throws -> Int {
        try connection.first("SELECT count(*) AS tokens FROM api_tokens WHERE user_id = $1", userID) {
            $0.int("tokens")
        } ?? 0
    }

    func noteUse(id: String, from address: String, at now: UnixTime) throws where C == Connection {
        try connection.execute(
            "UPDATE api_tokens SET last_used_at = $2, last_address = $3 WHERE id = $1", id, now.microseconds, address)
    }

    func delete(id: String) throws where C == Connection {
        try connection.execute("DELETE FROM api_tokens WHERE id = $1", id)
    }

    /// Deletes tokens that expired long ago.
    ///
    /// - Parameter limit: the largest number that is deleted at once.
    /// - Returns: the number of deleted tokens.
    func deleteExpired(for age: Duration, limit: Int, _ permit: DeletionPermit) throws -> Int where C == Connection {
        let end = try permit.now().subtracting(age)
        return try connection.execute(
            """
            DELETE FROM api_tokens WHERE id IN (
                SELECT id FROM api_tokens WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2
            )
            """, end.microseconds, limit)
    }

    private static func record(_ row: Row) -> APITokenRecord {
        let organizations = row.text("organizations")
        return APITokenRecord(
            id: row.text("id"), userID: row.int64("user_id"), name: row.text("name"), digest: row.blob("digest"),
            scope: APITokenScope(
                role: Role(rawValue: row.text("role")) ?? .member,
                organizations: organizations.isEmpty
                    ? nil : organizations.split(separator: ",").compactMap { Int64($0) }
            ), createdAt: row.time("created_at"), expiresAt: row.time("expires_at"),
            lastUsedAt: row.optionalTime("last_used_at"), lastAddress: row.text("last_address"))
    }
}
