import Basics
import Catalog
import Database

/// The tables of ``UploadRecords``.
enum UploadSchema {
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
        UsageSchema.migration,
        idempotencyMigration,
        underWayMigration,
        supersededMigration,
        retentionMigration,
        UsageSchema.tagsMigration,
        Migration(
            name: "uploads-6",
            sql: """
                -- session_ends_at and began_at are of the steady clock, which is the wall clock but for its steps. NULL: as
                -- created_at.
                ALTER TABLE uploads ADD COLUMN began_at INTEGER;
                """),
        Migration(
            name: "uploads-7",
            sql: """
                -- What the client told of its file when it began; NULL = nothing.
                ALTER TABLE logical_uploads ADD COLUMN file_name TEXT;
                ALTER TABLE logical_uploads ADD COLUMN file_size INTEGER;
                ALTER TABLE logical_uploads ADD COLUMN recorded_from INTEGER;
                ALTER TABLE logical_uploads ADD COLUMN recorded_to INTEGER;
                """),
        UsageSchema.changedTagsMigration,
        UsageSchema.tagCostMigration,
        Migration(
            name: "uploads-8",
            sql: """
                -- The path of the file below the folder that is uploaded; NULL = none was sent.
                ALTER TABLE logical_uploads ADD COLUMN relative_path TEXT;
                """),
        deviceMigration,
        warningsMigration,
        failuresMigration,
    ]
}

private let select = """
    SELECT u.id, u.logical_id, l.organization_id, l.site_id, l.suite_id, l.device_id, u.bucket, u.endpoint, u.region,
        u.backend, u.object_key, u.part_size, u.created_at, u.is_restart, u.state, u.session_ends_at, u.is_touched,
        u.is_swept, u.refresh_count, u.abort_reason, u.completed_size, u.completed_etag, u.completed_part_count,
        u.completed_tags_digest, coalesce(u.began_at, u.created_at) AS began_at, l.file_name,
        l.file_size, l.recorded_from, l.recorded_to, l.relative_path
    FROM uploads u JOIN logical_uploads l ON l.id = u.logical_id
    """

/// Built once, because almost every call of a device uses it.
private let byID = "\(select) WHERE u.id = $1"

/// All SQL of uploads. Times are microseconds since 1970.
struct UploadRecords<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    /// Returns an attempt. For a superseded attempt of which only the id is left, the other values are those of the current
    /// attempt.
    func upload(_ id: String) throws -> UploadRecord? {
        try attempt(id) ?? folded(id)
    }

    /// Returns an attempt that has a row of its own.
    func attempt(_ id: String) throws -> UploadRecord? {
        try connection.first(byID, id, row: Self.upload)
    }

    /// Returns the current attempt: the only one that is not superseded.
    func inForce(logicalID: String) throws -> UploadRecord? {
        try connection.first("\(select) WHERE u.logical_id = $1 AND u.state <> 2", logicalID, row: Self.upload)
    }

    /// Returns the current attempt at the same logical upload.
    func inForce(forUpload id: String) throws -> UploadRecord? {
        try connection.first(
            """
            \(select) WHERE u.state <> 2 AND u.logical_id = coalesce(
                (SELECT logical_id FROM uploads WHERE id = $1),
                (SELECT logical_id FROM superseded_uploads WHERE id = $1))
            """, id, row: Self.upload)
    }

    func holdsLogicalUpload(_ id: String) throws -> Bool {
        try connection.hasRow("SELECT 1 FROM logical_uploads WHERE id = $1", id)
    }

    /// Whether the organization of an upload exists.
    func holdsOrganization(_ id: Int64) throws -> Bool {
        try connection.hasRow("SELECT 1 FROM organizations WHERE id = $1", id)
    }

    func insertLogicalUpload(of upload: UploadRecord) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO logical_uploads (id, organization_id, site_id, suite_id, device_id, created_at, file_name,
                file_size, recorded_from, recorded_to, relative_path)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
            """, upload.logicalID, upload.owner.organizationID, upload.owner.siteID, upload.owner.suiteID,
            upload.owner.deviceID, upload.createdAt.microseconds, upload.hints.fileName?.text, upload.hints.fileSize,
            upload.hints.recordedFrom?.microseconds, upload.hints.recordedTo?.microseconds,
            upload.hints.relativePath?.text)
    }

    func insert(_ upload: UploadRecord) throws where C == Connection {
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

    /// Writes the columns that can change.
    func update(_ upload: UploadRecord) throws where C == Connection {
        try connection.executeSoon(
            """
            UPDATE uploads SET state = $2, session_ends_at = $3, is_touched = $4, is_swept = $5, refresh_count = $6,
                abort_reason = $7, completed_size = $8, completed_etag = $9, completed_part_count = $10,
                completed_tags_digest = $11
            WHERE id = $1
            """, upload.id, upload.state.rawValue, upload.sessionEndsAt.microseconds, upload.isTouched, upload.isSwept,
            upload.refreshCount, upload.abortReason, upload.completed?.size, upload.completed?.etag,
            upload.completed?.partCount, upload.completed?.tagsDigest)
    }

    /// Returns current attempts that were not swept and whose session has ended, in the order of that end.
    func ended(by now: UnixTime, after position: SweepPosition, limit: Int) throws -> [SweepPosition] {
        try connection.query(
            """
            SELECT session_ends_at, id FROM uploads
            WHERE state = 1 AND is_swept = 0 AND session_ends_at <= $1 AND (session_ends_at, id) > ($2, $3)
            ORDER BY session_ends_at, id LIMIT $4
            """, now.microseconds, position.endedAt.microseconds, position.uploadID, limit
        ) { SweepPosition(endedAt: $0.time("session_ends_at"), uploadID: $0.text("id")) }
    }

    private static func upload(_ row: Row) -> UploadRecord {
        UploadRecord(
            id: row.text("id"), logicalID: row.text("logical_id"),
            owner: ObjectOwner(
                organizationID: row.int64("organization_id"), siteID: row.int64("site_id"),
                suiteID: row.optionalInt64("suite_id"), deviceID: row.optionalText("device_id")),
            location: UploadLocation(
                bucket: row.text("bucket"), endpoint: row.text("endpoint"), region: row.text("region"),
                backend: row.text("backend"), key: row.text("object_key"), partSize: row.int64("part_size")),
            createdAt: row.time("created_at"), beganAt: row.time("began_at"), isRestart: row.bool("is_restart"),
            hints: hints(row),
            state: UploadRecord.State(rawValue: row.int64("state")) ?? .superseded,
            sessionEndsAt: row.time("session_ends_at"), isTouched: row.bool("is_touched"),
            isSwept: row.bool("is_swept"), refreshCount: row.int64("refresh_count"),
            abortReason: row.optionalText("abort_reason"), completed: completed(row))
    }

    static func hints(_ row: Row) -> UploadHints {
        UploadHints(
            fileName: row.optionalText("file_name").map { FileName(verbatim: $0) },
            relativePath: row.optionalText("relative_path").map { RelativePath(verbatim: $0) },
            fileSize: row.optionalInt64("file_size"), recordedFrom: row.optionalTime("recorded_from"),
            recordedTo: row.optionalTime("recorded_to"))
    }

    private static func completed(_ row: Row) -> CompletedObject? {
        guard let size = row.optionalInt64("completed_size") else { return nil }
        return CompletedObject(
            size: size, etag: row.text("completed_etag"), partCount: row.int("completed_part_count"),
            tagsDigest: row.blob("completed_tags_digest"))
    }
}
