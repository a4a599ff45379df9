import Database

/// Superseded attempts. Their clients may still name them, however often they restarted since: the latest have rows of
/// their own, of older ones only the ids stay.
extension UploadRecords {
    /// Superseded attempts of a logical upload that keep rows of their own.
    static let keptSuperseded = 4
    /// Attempts that one restart makes ids of; versions before this one left any number.
    static let foldedAtOnce = 16

    static let supersededMigration = Migration(
        name: "uploads-4",
        sql: """
            -- Attempts that were superseded long ago: whose they were, which is all that is still asked.
            CREATE TABLE superseded_uploads (
                id TEXT PRIMARY KEY,
                logical_id TEXT NOT NULL REFERENCES logical_uploads (id)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX superseded_uploads_by_upload ON superseded_uploads (logical_id);
            CREATE INDEX upload_idempotency_by_upload ON upload_idempotency (upload_id);
            CREATE INDEX uploads_by_upload ON uploads (logical_id, id);
            """)

    /// Has only the ids stay of all superseded attempts but the latest few. What they stored is gone; one that still has
    /// rows in the store, or an idempotency key, keeps its own until another restart.
    func foldSuperseded(logicalID: String) throws {
        let old = try connection.query(
            """
            SELECT u.id FROM uploads u WHERE u.logical_id = $1 AND u.state = 2
            AND NOT EXISTS (SELECT 1 FROM store_multiparts m WHERE m.upload_id = u.id)
            AND NOT EXISTS (SELECT 1 FROM upload_idempotency i WHERE i.upload_id = u.id)
            ORDER BY u.id DESC LIMIT $2 OFFSET $3
            """, logicalID, Self.foldedAtOnce, Self.keptSuperseded
        ) { $0.text("id") }
        for id in old {
            try connection.execute(
                "INSERT INTO superseded_uploads (id, logical_id) VALUES ($1, $2)", id, logicalID)
            // Usage is counted by the attempt: there is none left to be counted.
            try connection.execute("DELETE FROM store_usage WHERE upload_id = $1 AND bytes = 0", id)
            try connection.execute("DELETE FROM uploads WHERE id = $1", id)
        }
    }

    func folded(_ id: String) throws -> UploadRecord? {
        guard try connection.first("SELECT 1 FROM superseded_uploads WHERE id = $1", id, row: { _ in true }) == true,
            let inForce = try inForce(forUpload: id)
        else { return nil }
        return UploadRecord(
            id: id, logicalID: inForce.logicalID, owner: inForce.owner, location: inForce.location,
            createdAt: inForce.createdAt, beganAt: inForce.beganAt, isRestart: inForce.isRestart, hints: inForce.hints,
            state: .superseded,
            sessionEndsAt: inForce.sessionEndsAt, isTouched: true, isSwept: false, refreshCount: 0)
    }
}
