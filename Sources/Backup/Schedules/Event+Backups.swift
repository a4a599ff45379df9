import Webhooks

/// The contents of webhook events about scheduled backups. The names are a public format: new fields are optional, existing ones
/// stay.
extension Event {
    private struct EndedBackup: Encodable {
        let schedule: String
        let archive: String
        /// The name of the destination.
        let destination: String
        /// The size in bytes.
        let sizeBytes: Int64
        let objects: Int
        /// The number of objects that are not intact in the archive.
        let lostObjects: Int
        /// The reason of a failure.
        let reason: String?
    }

    static func backupEnded(
        _ run: ScheduledRun, of schedule: BackupSchedule, reason: String?, organizationID: Int64
    ) -> Event {
        Event(
            reason == nil ? .backupCompleted : .backupFailed, subject: "backups/\(schedule.name)",
            organizationID: organizationID,
            data: EndedBackup(
                schedule: schedule.name, archive: run.archive, destination: schedule.destination.name,
                sizeBytes: run.result.size, objects: run.result.objects, lostObjects: run.result.lostObjects,
                reason: reason))
    }
}
