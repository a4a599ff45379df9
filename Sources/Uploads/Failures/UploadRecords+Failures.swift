import Basics
import Catalog
import Database

extension UploadSchema {
    static let failuresMigration = Migration(
        name: "uploads-11",
        sql: """
            -- Attempts that ended without an object, with what is removed at their end. cause: 1 aborted, 2 canceled, 3 expired,
            -- 4 the device was retired. ended_by is an actor of the audit log.
            CREATE TABLE failed_uploads (
                id TEXT PRIMARY KEY,
                logical_id TEXT NOT NULL,
                organization_id INTEGER NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
                site_id INTEGER NOT NULL,
                device_id TEXT,
                cause INTEGER NOT NULL,
                reason TEXT NOT NULL,
                ended_by TEXT NOT NULL,
                file_name TEXT,
                file_size INTEGER,
                stored_bytes INTEGER NOT NULL,
                created_at INTEGER NOT NULL,
                ended_at INTEGER NOT NULL
            ) STRICT;
            CREATE INDEX failed_uploads_by_time ON failed_uploads (ended_at, id);
            CREATE INDEX failed_uploads_by_organization ON failed_uploads (organization_id, ended_at, id);
            CREATE INDEX failed_uploads_by_site ON failed_uploads (site_id, ended_at, id);
            CREATE INDEX failed_uploads_by_device ON failed_uploads (device_id, ended_at, id)
                WHERE device_id IS NOT NULL;

            -- Earlier versions did not record when, by whom and at which size an attempt ended.
            INSERT INTO failed_uploads (id, logical_id, organization_id, site_id, device_id, cause, reason, ended_by,
                file_name, file_size, stored_bytes, created_at, ended_at)
            SELECT u.id, u.logical_id, l.organization_id, l.site_id, l.device_id,
                CASE WHEN u.state = 1 THEN 3 WHEN u.abort_reason LIKE 'canceled by %' THEN 2
                    WHEN u.abort_reason LIKE 'the device was retired by %' THEN 4 ELSE 1 END,
                CASE WHEN u.state = 1 THEN 'nothing was received until the end of its session'
                    ELSE coalesce(u.abort_reason, '') END,
                CASE WHEN u.state = 1 THEN 'gateway' ELSE '' END,
                l.file_name, l.file_size, 0, u.created_at,
                CASE WHEN u.state = 1 THEN u.session_ends_at ELSE u.created_at END
            FROM uploads u JOIN logical_uploads l ON l.id = u.logical_id
            WHERE u.state = 3 OR (u.state = 1 AND u.is_swept = 1);
            """)
}

/// The statements of the list of failed uploads, each with an index of its own. Parameters: the lowest time, the time and the id
/// before which the page begins, the number of rows, and the owner.
enum FailureStatements {
    static let all = "\(select) \(order)"
    static let ofOrganization = "\(select) AND organization_id = $5 \(order)"
    static let ofSite = "\(select) AND site_id = $5 \(order)"
    static let ofDevice = "\(select) AND device_id = $5 \(order)"

    private static let select = """
        SELECT id, logical_id, organization_id, site_id, device_id, cause, reason, ended_by, file_name, file_size,
            stored_bytes, created_at, ended_at FROM failed_uploads WHERE ended_at >= $1 AND (ended_at, id) < ($2, $3)
        """
    private static let order = "ORDER BY ended_at DESC, id DESC LIMIT $4"
}

/// The position of a page in the list of failed uploads, which begins with the latest.
struct FailurePosition: Sendable, Hashable {
    let endedAt: UnixTime
    let uploadID: String

    /// The position before all uploads that ended before a time; `nil` = before all uploads.
    static func before(_ time: UnixTime?) -> FailurePosition {
        FailurePosition(endedAt: time ?? UnixTime(microseconds: .max), uploadID: "")
    }
}

extension FailurePosition {
    /// - Parameter text: the ``text`` of a position.
    init?(_ text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2, let time = Int64(parts[0]) else { return nil }
        self.init(endedAt: UnixTime(microseconds: time), uploadID: String(parts[1]))
    }

    var text: String { "\(endedAt.microseconds) \(uploadID)" }
}

/// The SQL of failed uploads.
extension UploadRecords {
    /// Records that an attempt ended without an object, before its data is removed. The first end of an attempt is kept: a client may
    /// abort an upload whose session has ended.
    func insertFailure(of upload: UploadRecord, _ end: UploadEnd) throws where C == Connection {
        try connection.executeSoon(
            """
            INSERT INTO failed_uploads (id, logical_id, organization_id, site_id, device_id, cause, reason, ended_by,
                file_name, file_size, stored_bytes, created_at, ended_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10,
                coalesce((SELECT bytes FROM store_usage WHERE upload_id = $1), 0), $11, $12)
            ON CONFLICT (id) DO NOTHING
            """, upload.id, upload.logicalID, upload.owner.organizationID, upload.owner.siteID, upload.owner.deviceID,
            end.cause.rawValue, end.reason, end.actor, upload.hints.fileName?.text, upload.hints.fileSize,
            upload.createdAt.microseconds, end.time.microseconds)
    }

    /// Forgets the failure of an attempt that has an object after all.
    func forgetFailure(_ uploadID: String) throws where C == Connection {
        try connection.execute("DELETE FROM failed_uploads WHERE id = $1", uploadID)
    }

    /// Returns failed uploads, those first that ended last. Of the filter, only the times are compared, and the device, else the
    /// site, else the organization.
    func failures(
        _ filter: FailedUploadFilter, after position: FailurePosition, limit: PageLimit
    ) throws -> PageRows<FailedUploadRecord> {
        let since = filter.since?.microseconds ?? .min
        let (time, id, rows) = (position.endedAt.microseconds, position.uploadID, limit.statementRows)
        if let deviceID = filter.deviceID {
            return try connection.page(
                limit, FailureStatements.ofDevice, since, time, id, rows, deviceID, row: Self.failure)
        }
        if let siteID = filter.siteID {
            return try connection.page(
                limit, FailureStatements.ofSite, since, time, id, rows, siteID, row: Self.failure)
        }
        if let organizationID = filter.organizationID {
            return try connection.page(
                limit, FailureStatements.ofOrganization, since, time, id, rows, organizationID, row: Self.failure)
        }
        return try connection.page(limit, FailureStatements.all, since, time, id, rows, row: Self.failure)
    }

    /// Deletes failures of at least `age` ago.
    ///
    /// - Returns: the number of deleted rows; fewer than `limit` if none is left.
    func forgetFailures(
        olderThan age: Duration, _ permit: DeletionPermit, limit: Int
    ) throws -> Int where C == Connection {
        let before = try permit.now().subtracting(age)
        return try connection.execute(
            """
            DELETE FROM failed_uploads WHERE id IN (
                SELECT id FROM failed_uploads WHERE \(permit.isBefore("ended_at", "$1")) ORDER BY ended_at LIMIT $2)
            """, before.microseconds, limit)
    }

    private static func failure(_ row: Row) -> FailedUploadRecord {
        FailedUploadRecord(
            id: row.text("id"), logicalID: row.text("logical_id"), organizationID: row.int64("organization_id"),
            siteID: row.int64("site_id"), deviceID: row.optionalText("device_id"),
            cause: FailedUploadRecord.Cause(rawValue: row.int64("cause")) ?? .aborted, reason: row.text("reason"),
            endedBy: row.text("ended_by"), fileName: row.optionalText("file_name") ?? "",
            fileSize: row.optionalInt64("file_size") ?? 0, stored: row.int64("stored_bytes"),
            createdAt: row.time("created_at"), endedAt: row.time("ended_at"))
    }
}
