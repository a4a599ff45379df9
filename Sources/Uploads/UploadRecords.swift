import Basics
import Database

/// All the SQL of uploads, and their tables. Times are microseconds since 1970.
struct UploadRecords {
    static let migrations = [
        Migration(
            name: "uploads-1",
            sql: """
                CREATE TABLE logical_uploads (
                    id TEXT PRIMARY KEY,
                    organization_id INTEGER NOT NULL REFERENCES organizations (id),
                    site_id INTEGER NOT NULL,
                    suite_id INTEGER,
                    device_id TEXT,
                    created_at INTEGER NOT NULL
                ) STRICT;

                -- The attempts; rows are kept when what they stored is gone. state: 1 current, 2 superseded, 3 aborted,
                -- 4 completed.
                CREATE TABLE uploads (
                    id TEXT PRIMARY KEY,
                    logical_id TEXT NOT NULL REFERENCES logical_uploads (id),
                    state INTEGER NOT NULL,
                    is_restart INTEGER NOT NULL,
                    bucket TEXT NOT NULL,
                    endpoint TEXT NOT NULL,
                    region TEXT NOT NULL,
                    backend TEXT NOT NULL,
                    object_key TEXT NOT NULL,
                    part_size INTEGER NOT NULL,
                    created_at INTEGER NOT NULL,
                    session_ends_at INTEGER NOT NULL,
                    is_touched INTEGER NOT NULL DEFAULT 0,
                    is_swept INTEGER NOT NULL DEFAULT 0,
                    refresh_count INTEGER NOT NULL DEFAULT 0,
                    abort_reason TEXT,
                    completed_size INTEGER,
                    completed_etag TEXT,
                    completed_part_count INTEGER,
                    completed_tags_digest BLOB
                ) STRICT;
                -- A logical upload has one attempt that counts, and so one object at most.
                CREATE UNIQUE INDEX uploads_in_force ON uploads (logical_id) WHERE state <> 2;
                CREATE INDEX uploads_by_end ON uploads (session_ends_at, id) WHERE state = 1 AND is_swept = 0;
                """),
        UsageRecords.migration,
        idempotencyMigration,
        underWayMigration,
        supersededMigration,
        retentionMigration,
        UsageRecords.tagsMigration,
        Migration(
            name: "uploads-6",
            sql: """
                -- session_ends_at and began_at are of the steady clock, which is the wall clock but for its steps. NULL: as
                -- created_at.
                ALTER TABLE uploads ADD COLUMN began_at INTEGER;
                """),
    ]

    private static let select = """
        SELECT u.id, u.logical_id, l.organization_id, l.site_id, l.suite_id, l.device_id, u.bucket, u.endpoint, u.region,
            u.backend, u.object_key, u.part_size, u.created_at, u.is_restart, u.state, u.session_ends_at, u.is_touched,
            u.is_swept, u.refresh_count, u.abort_reason, u.completed_size, u.completed_etag, u.completed_part_count,
            u.completed_tags_digest, coalesce(u.began_at, u.created_at)
        FROM uploads u JOIN logical_uploads l ON l.id = u.logical_id
        """

    let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    /// An attempt; a superseded one also where only its id is left, with all else from the attempt in force.
    func upload(_ id: String) throws -> UploadRecord? {
        try attempt(id) ?? folded(id)
    }

    /// Asked at almost each call of a device, so made once.
    private static let byID = "\(select) WHERE u.id = $1"

    /// An attempt that has a row of its own.
    func attempt(_ id: String) throws -> UploadRecord? {
        try connection.first(Self.byID, id, row: Self.upload)
    }

    /// The attempt that counts: the only one that is not superseded.
    func inForce(logicalID: String) throws -> UploadRecord? {
        try connection.first("\(Self.select) WHERE u.logical_id = $1 AND u.state <> 2", logicalID, row: Self.upload)
    }

    /// The attempt that counts at the same logical upload.
    func inForce(forUpload id: String) throws -> UploadRecord? {
        try connection.first(
            """
            \(Self.select) WHERE u.state <> 2 AND u.logical_id = coalesce(
                (SELECT logical_id FROM uploads WHERE id = $1),
                (SELECT logical_id FROM superseded_uploads WHERE id = $1))
            """, id, row: Self.upload)
    }

    func holdsLogicalUpload(_ id: String) throws -> Bool {
        try connection.first("SELECT 1 FROM logical_uploads WHERE id = $1", id) { _ in true } ?? false
    }

    /// Whether there is the organization that an upload refers to.
    func holdsOrganization(_ id: Int64) throws -> Bool {
        try connection.first("SELECT 1 FROM organizations WHERE id = $1", id) { _ in true } ?? false
    }

    func insertLogicalUpload(of upload: UploadRecord) throws {
        try connection.execute(
            """
            INSERT INTO logical_uploads (id, organization_id, site_id, suite_id, device_id, created_at)
            VALUES ($1, $2, $3, $4, $5, $6)
            """, upload.logicalID, upload.owner.organizationID, upload.owner.siteID, upload.owner.suiteID,
            upload.owner.deviceID, upload.createdAt.microseconds)
    }

    func insert(_ upload: UploadRecord) throws {
        let location = upload.location
        try connection.execute(
            """
            INSERT INTO uploads (id, logical_id, state, is_restart, bucket, endpoint, region, backend, object_key,
                part_size, created_at, session_ends_at, began_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
            """, upload.id, upload.logicalID, upload.state.rawValue, upload.isRestart, location.bucket,
            location.endpoint, location.region, location.backend, location.key, location.partSize,
            upload.createdAt.microseconds, upload.sessionEndsAt.microseconds, upload.beganAt.microseconds)
    }

    /// Writes what changes in an upload's life.
    func update(_ upload: UploadRecord) throws {
        try connection.execute(
            """
            UPDATE uploads SET state = $2, session_ends_at = $3, is_touched = $4, is_swept = $5, refresh_count = $6,
                abort_reason = $7, completed_size = $8, completed_etag = $9, completed_part_count = $10,
                completed_tags_digest = $11
            WHERE id = $1
            """, upload.id, upload.state.rawValue, upload.sessionEndsAt.microseconds, upload.isTouched, upload.isSwept,
            upload.refreshCount, upload.abortReason, upload.completed?.size, upload.completed?.etag,
            upload.completed?.partCount, upload.completed?.tagsDigest)
    }

    /// Current attempts whose session has ended and that were not swept, by that end.
    func ended(by now: UnixTime, after position: SweepPosition, limit: Int) throws -> [SweepPosition] {
        try connection.query(
            """
            SELECT session_ends_at, id FROM uploads
            WHERE state = 1 AND is_swept = 0 AND session_ends_at <= $1 AND (session_ends_at, id) > ($2, $3)
            ORDER BY session_ends_at, id LIMIT $4
            """, now.microseconds, position.endedAt.microseconds, position.uploadID, limit
        ) { SweepPosition(endedAt: UnixTime(microseconds: $0.int64(0)), uploadID: $0.text(1)) }
    }

    private static func upload(_ row: Row) -> UploadRecord {
        UploadRecord(
            id: row.text(0), logicalID: row.text(1),
            owner: UploadOwner(
                organizationID: row.int64(2), siteID: row.int64(3), suiteID: row.optionalInt64(4),
                deviceID: row.optionalText(5)),
            location: UploadLocation(
                bucket: row.text(6), endpoint: row.text(7), region: row.text(8), backend: row.text(9),
                key: row.text(10), partSize: row.int64(11)),
            createdAt: row.time(12), beganAt: row.time(24), isRestart: row.bool(13),
            state: UploadRecord.State(rawValue: row.int64(14)) ?? .superseded,
            sessionEndsAt: UnixTime(microseconds: row.int64(15)), isTouched: row.bool(16), isSwept: row.bool(17),
            refreshCount: row.int64(18), abortReason: row.optionalText(19), completed: completed(row))
    }

    private static func completed(_ row: Row) -> CompletedObject? {
        guard let size = row.optionalInt64(20) else { return nil }
        return CompletedObject(size: size, etag: row.text(21), partCount: row.int(22), tagsDigest: row.blob(23))
    }
}
