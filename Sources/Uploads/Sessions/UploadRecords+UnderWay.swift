import Basics
import Database

/// An upload that is neither completed nor aborted nor swept.
struct UnderWayRecord: Sendable {
    let id: String
    let logicalID: String
    let organizationID: Int64
    let siteID: Int64
    let deviceID: String?
    /// The size of a part in bytes.
    let partSize: Int64
    /// The number of acknowledged bytes.
    let stored: Int64
    let createdAt: UnixTime
    /// The end of the session, by the steady clock.
    let sessionEndsAt: UnixTime
    let hints: UploadHints
}

extension UploadSchema {
    static let underWayMigration = Migration(
        name: "uploads-3", sql: "CREATE INDEX uploads_under_way ON uploads (id) WHERE state = 1 AND is_swept = 0;")
}

extension UploadRecords {
    /// Returns the ids of a device's uploads in progress.
    func underWay(ofDevice id: String) throws -> [String] {
        try connection.query(
            """
            SELECT u.id FROM uploads u JOIN logical_uploads l ON l.id = u.logical_id
            WHERE u.state = 1 AND u.is_swept = 0 AND l.device_id = $1
            """, id
        ) { $0.text("id") }
    }

    /// Returns uploads in descending order of their ids, which is the reverse order of their beginning.
    ///
    /// - Parameter id: only uploads before this one; `nil` = from the latest on.
    func underWay(before id: String?, limit: PageLimit) throws -> PageRows<UnderWayRecord> {
        try connection.page(
            limit,
            """
            SELECT u.id, u.logical_id, l.organization_id, l.site_id, l.device_id, u.part_size, coalesce(s.bytes, 0) AS stored,
                u.created_at, u.session_ends_at, l.file_name, l.file_size, l.recorded_from, l.recorded_to,
                l.relative_path
            FROM uploads u JOIN logical_uploads l ON l.id = u.logical_id LEFT JOIN store_usage s ON s.upload_id = u.id
            WHERE u.state = 1 AND u.is_swept = 0 AND u.id < $1
            ORDER BY u.id DESC LIMIT $2
            """, id ?? "~", limit.statementRows
        ) { row in
            UnderWayRecord(
                id: row.text("id"), logicalID: row.text("logical_id"), organizationID: row.int64("organization_id"),
                siteID: row.int64("site_id"), deviceID: row.optionalText("device_id"),
                partSize: row.int64("part_size"), stored: row.int64("stored"), createdAt: row.time("created_at"),
                sessionEndsAt: row.time("session_ends_at"), hints: Self.hints(row))
        }
    }
}
