import Basics
import Catalog
import Database

extension UploadSchema {
    static let idempotencyMigration = Migration(
        name: "uploads-2",
        sql: """
            -- Which upload a principal's idempotency key made, for a day. device_id: '' = the site itself.
            CREATE TABLE upload_idempotency (
                organization_id INTEGER NOT NULL,
                site_id INTEGER NOT NULL,
                device_id TEXT NOT NULL,
                key TEXT NOT NULL,
                restart_from TEXT NOT NULL,
                upload_id TEXT NOT NULL REFERENCES uploads (id),
                used_at INTEGER NOT NULL,
                PRIMARY KEY (organization_id, site_id, device_id, key)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX upload_idempotency_by_age ON upload_idempotency (used_at);
            """)
}

extension UploadRecords {
    /// Returns the last use of a principal's key.
    func use(
        of key: IdempotencyKey, by owner: ObjectOwner, since: UnixTime
    ) throws -> (restartFrom: String, upload: UploadRecord)? {
        let (site, device) = owner.idempotencyScope
        let found = try connection.first(
            """
            SELECT restart_from, upload_id FROM upload_idempotency
            WHERE organization_id = $1 AND site_id = $2 AND device_id = $3 AND key = $4 AND used_at > $5
            """, owner.organizationID, site, device, key.text, since.microseconds
        ) { (restartFrom: $0.text("restart_from"), uploadID: $0.text("upload_id")) }
        guard let found, let upload = try upload(found.uploadID) else { return nil }
        return (found.restartFrom, upload)
    }

    func remember(_ key: IdempotencyKey, restartFrom: String, as upload: UploadRecord) throws where C == Connection {
        let (site, device) = upload.owner.idempotencyScope
        try connection.execute(
            """
            INSERT INTO upload_idempotency (organization_id, site_id, device_id, key, restart_from, upload_id, used_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            ON CONFLICT (organization_id, site_id, device_id, key)
            DO UPDATE SET restart_from = $5, upload_id = $6, used_at = $7
            """, upload.owner.organizationID, site, device, key.text, restartFrom, upload.id,
            upload.createdAt.microseconds)
    }

    /// Deletes keys whose last use was a day ago.
    ///
    /// - Returns: the number of deleted keys; fewer than `limit` if none is left.
    func forgetUses(_ permit: DeletionPermit, limit: Int) throws -> Int where C == Connection {
        // A use at exactly that time is deleted, too.
        let oldest = IdempotencyKey.oldestUse(at: try permit.now()).adding(microseconds: 1)
        return try connection.execute(
            """
            DELETE FROM upload_idempotency WHERE (organization_id, site_id, device_id, key) IN (
                SELECT organization_id, site_id, device_id, key FROM upload_idempotency
                WHERE \(permit.isBefore("used_at", "$1")) ORDER BY used_at LIMIT $2)
            """, oldest.microseconds, limit)
    }
}

extension ObjectOwner {
    /// The scope of the owner's keys; a device keeps its keys when it moves to another site.
    fileprivate var idempotencyScope: (site: Int64, device: String) {
        deviceID.map { (0, $0) } ?? (siteID, "")
    }
}
