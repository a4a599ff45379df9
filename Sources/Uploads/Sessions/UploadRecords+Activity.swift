import Accounts
import Basics
import Database

extension UploadSchema {
    static let deviceMigration = Migration(
        name: "uploads-9",
        sql: """
            CREATE INDEX logical_uploads_by_device ON logical_uploads (device_id, id) WHERE device_id IS NOT NULL;
            """,
        index: "logical_uploads_by_device")
}

extension UploadRecords {
    private struct Latest {
        let id: String
        let state: UploadRecord.State?
        let isSwept: Bool
        let abortReason: String?
        let fileName: String?
        let createdAt: UnixTime

        /// The reason why no object can come of it; `nil` = it is in progress or completed.
        var failure: String? {
            switch state {
            case .aborted: abortReason ?? ""
            case .current where isSwept: UploadFailure.expiry
            default: nil
            }
        }
    }

    /// Returns what the latest uploads of a device say, of which a limited number is read.
    func activity(ofDevice id: String) throws -> DeviceUploadActivity {
        let (visits, shownFailures) = (500, 20)
        let latest = try connection.query(
            """
            SELECT u.id, u.state, u.is_swept, u.abort_reason, u.created_at, l.file_name
            FROM logical_uploads l JOIN uploads u ON u.logical_id = l.id AND u.state <> 2
            WHERE l.device_id = $1 ORDER BY l.id DESC LIMIT $2
            """, id, visits
        ) { row in
            Latest(
                id: row.text("id"), state: UploadRecord.State(rawValue: row.int64("state")),
                isSwept: row.bool("is_swept"), abortReason: row.optionalText("abort_reason"),
                fileName: row.optionalText("file_name"), createdAt: row.time("created_at"))
        }
        var activity = DeviceUploadActivity()
        activity.inProgress = latest.count { $0.state == .current && !$0.isSwept }
        activity.failures = latest.compactMap { upload in
            upload.failure.map {
                DeviceUploadActivity.Failure(
                    uploadID: upload.id, fileName: upload.fileName ?? "", beganAt: upload.createdAt, reason: $0)
            }
        }
        activity.failures.removeLast(max(0, activity.failures.count - shownFailures))
        let completed = latest.filter { $0.state == .completed }.map(\.createdAt)
        activity.lastCompletedAt = completed.first
        activity.completedPerDay = Self.perDay(completed)
        return activity
    }

    /// Returns the average of the week before the first time, or of a shorter time of which there are uploads.
    ///
    /// - Parameter times: the latest first.
    private static func perDay(_ times: [UnixTime]) -> Int {
        guard let last = times.first else { return 0 }
        let week = times.prefix { last.duration(since: $0) < .days(7) }
        let length = last.duration(since: week.last ?? last) / Duration.days(1)
        return max(1, Int((Double(week.count) / max(1, length.rounded(.up))).rounded()))
    }
}
