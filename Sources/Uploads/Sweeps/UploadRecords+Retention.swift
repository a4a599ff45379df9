import Basics
import Database

extension UploadSchema {
    static let retentionMigration = Migration(
        name: "uploads-5", sql: "CREATE INDEX logical_uploads_by_age ON logical_uploads (created_at, id);")
}

/// The retention of records of uploads that ended long ago.
extension UploadRecords {
    /// Returns logical uploads that began at least `age` ago, the oldest first, and whether all of their attempts ended that long
    /// ago and left nothing: no object, no record of a deleted one, nothing in the store, no idempotency key.
    func old(
        for age: Duration, _ permit: DeletionPermit, after place: RetentionPlace, count: Int
    ) throws -> [(RetentionPlace, hasEnded: Bool)] {
        let (limit, steadyLimit) = (try permit.now().subtracting(age), try permit.steadyNow().subtracting(age))
        let old = try connection.query(
            """
            SELECT l.created_at, l.id, NOT EXISTS (
                SELECT 1 FROM uploads u WHERE u.logical_id = l.id AND (
                    u.session_ends_at >= $5 OR (u.state = 1 AND u.is_swept = 0)
                    OR EXISTS (SELECT 1 FROM objects o WHERE o.upload_id = u.id)
                    OR EXISTS (SELECT 1 FROM deleted_objects d WHERE d.upload_id = u.id)
                    OR EXISTS (SELECT 1 FROM store_objects s WHERE s.upload_id = u.id)
                    OR EXISTS (SELECT 1 FROM store_multiparts m WHERE m.upload_id = u.id)
                    OR EXISTS (SELECT 1 FROM upload_idempotency i WHERE i.upload_id = u.id))) AS has_ended
            FROM logical_uploads l WHERE (l.created_at, l.id) > ($2, $3) AND \(permit.isBefore("l.created_at", "$1"))
            ORDER BY l.created_at, l.id LIMIT $4
            """, limit.microseconds, place.createdAt.microseconds, place.logicalID, count,
            steadyLimit.microseconds
        ) {
            (RetentionPlace(createdAt: $0.time("created_at"), logicalID: $0.text("id")), $0.bool("has_ended"))
        }
        // A row with a time from after a step of the clock was committed after that step.
        _ = try permit.now()
        return old
    }

    /// Deletes at most `limit` rows of a logical upload; the logical upload and its current attempt come last.
    ///
    /// - Returns: the number of deleted rows; fewer than `limit` if none is left.
    func forget(logicalID: String, limit: Int) throws -> Int where C == Connection {
        var rows = try connection.execute(
            """
            DELETE FROM superseded_uploads
            WHERE id IN (SELECT id FROM superseded_uploads WHERE logical_id = $1 LIMIT $2)
            """, logicalID, limit)
        guard rows < limit else { return rows }
        rows += try connection.execute(
            "DELETE FROM uploads WHERE id IN (SELECT id FROM uploads WHERE logical_id = $1 AND state = 2 LIMIT $2)",
            logicalID, limit - rows)
        guard rows < limit else { return rows }
        try connection.execute("DELETE FROM uploads WHERE logical_id = $1", logicalID)
        try connection.execute("DELETE FROM logical_uploads WHERE id = $1", logicalID)
        return rows
    }
}

/// The position of a walk over old uploads.
struct RetentionPlace: Sendable, Hashable {
    let createdAt: UnixTime
    let logicalID: String

    static let start = RetentionPlace(createdAt: UnixTime(microseconds: .min), logicalID: "")
}
