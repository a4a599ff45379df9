import Basics
import Database

/// A knowledge base of a user.
struct KnowledgeBaseRecord: Sendable, Hashable {
    let id: String
    let userID: Int64
    var title: String
    var description: String
    let createdAt: UnixTime
    var updatedAt: UnixTime
    var deletedAt: UnixTime?
}

private let select =
    "SELECT id, user_id, title, description, created_at, updated_at, deleted_at FROM knowledge_bases"
private let sweepBatch = 500

/// The knowledge bases of users. Every statement names the owner, so that nobody reaches those of others.
struct KnowledgeBaseRecords<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    func insert(_ base: KnowledgeBaseRecord) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO knowledge_bases (id, user_id, title, description, created_at, updated_at)
            VALUES ($1, $2, $3, $4, $5, $6)
            """, base.id, base.userID, base.title, base.description, base.createdAt.microseconds,
            base.updatedAt.microseconds)
    }

    /// Returns the knowledge bases of a user that were not deleted, the newest first.
    func all(userID: Int64) throws -> [KnowledgeBaseRecord] {
        try connection.query(
            "\(select) WHERE user_id = $1 AND deleted_at IS NULL ORDER BY created_at DESC, id", userID,
            row: Self.record)
    }

    /// Returns all knowledge bases of a user, also deleted ones, the newest first.
    func allWithDeleted(userID: Int64) throws -> [KnowledgeBaseRecord] {
        try connection.query(
            "\(select) WHERE user_id = $1 ORDER BY created_at DESC, id", userID, row: Self.record)
    }

    /// Returns the number of a user's rows, also deleted ones.
    func count(userID: Int64) throws -> Int {
        try connection.first("SELECT count(*) AS bases FROM knowledge_bases WHERE user_id = $1", userID) {
            $0.int("bases")
        } ?? 0
    }

    func find(id: String, userID: Int64) throws -> KnowledgeBaseRecord? {
        try connection.first(
            "\(select) WHERE id = $1 AND user_id = $2 AND deleted_at IS NULL", id, userID, row: Self.record)
    }

    /// Stores the title, the description and the times.
    func update(_ base: KnowledgeBaseRecord) throws where C == Connection {
        try connection.execute(
            """
            UPDATE knowledge_bases SET title = $3, description = $4, updated_at = $5, deleted_at = $6
            WHERE id = $1 AND user_id = $2
            """, base.id, base.userID, base.title, base.description, base.updatedAt.microseconds,
            base.deletedAt?.microseconds)
    }

    func hasDeleted(before time: UnixTime) throws -> Bool {
        try connection.first(
            "SELECT 1 AS one FROM knowledge_bases WHERE deleted_at <= $1 ORDER BY deleted_at LIMIT 1", time.microseconds
        ) { $0.int64("one") } != nil
    }

    /// Removes knowledge bases that were deleted until `time`, a limited number at once.
    func remove(deletedBefore time: UnixTime) throws -> Int where C == Connection {
        try connection.execute(
            """
            DELETE FROM knowledge_bases WHERE id IN (
                SELECT id FROM knowledge_bases WHERE deleted_at <= $1 ORDER BY deleted_at LIMIT $2)
            """, time.microseconds, sweepBatch)
    }

    private static func record(_ row: Row) -> KnowledgeBaseRecord {
        KnowledgeBaseRecord(
            id: row.text("id"), userID: row.int64("user_id"), title: row.text("title"),
            description: row.text("description"), createdAt: row.time("created_at"),
            updatedAt: row.time("updated_at"), deletedAt: row.optionalTime("deleted_at"))
    }
}
