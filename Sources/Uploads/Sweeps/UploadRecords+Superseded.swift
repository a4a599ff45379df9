import Database

extension UploadSchema {
    /// The number of superseded attempts of a logical upload that keep their rows.
    static let keptSuperseded = 4
    /// The number of attempts that one restart reduces to ids; earlier versions left any number of rows.
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
}

/// Superseded attempts. Clients may still use their ids, however often the upload was restarted: the latest ones keep their rows,
/// of older ones only the ids stay.
extension UploadRecords {
    /// Reduces all superseded attempts except the latest few to their ids. Their data is gone; an attempt that still has rows in
    /// the store, or an idempotency key, keeps its row until another restart.
    func foldSuperseded(logicalID: String) throws where C == Connection {
        let old = try connection.query(
            """
            SELECT u.id FROM uploads u WHERE u.logical_id = $1 AND u.state = 2
            AND NOT EXISTS (SELECT 1 FROM store_multiparts m WHERE m.upload_id = u.id)
            AND NOT EXISTS (SELECT 1 FROM upload_idempotency i WHERE i.upload_id = u.id)
            ORDER BY u.id DESC LIMIT $2 OFFSET $3
            """, logicalID, UploadSchema.foldedAtOnce, UploadSchema.keptSuperseded
        ) { $0.text("id") }
        for id in old {
            try connection.execute(
                "INSERT INTO superseded_uploads (id, logical_id) VALUES ($1, $2)", id, logicalID)
            // The counted usage of the attempt is 0 by now.
            try connection.execute("DELETE FROM store_usage WHERE upload_id = $1 AND bytes = 0", id)
            try connection.execute("DELETE FROM uploads WHERE id = $1", id)
        }
    }

    func folded(_ id: String) throws -> UploadRecord? {
        guard try connection.hasRow("SELECT 1 FROM superseded_uploads WHERE id = $1", id),
            let inForce = try inForce(forUpload: id)
        else { return nil }
        return UploadRecord(
            id: id, logicalID: inForce.logicalID, owner: inForce.owner, location: inForce.location,
            createdAt: inForce.createdAt, beganAt: inForce.beganAt, isRestart: inForce.isRestart, hints: inForce.hints,
            state: .superseded,
            sessionEndsAt: inForce.sessionEndsAt, isTouched: true, isSwept: false, refreshCount: 0)
    }
}
