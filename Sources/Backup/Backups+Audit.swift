package import Capability

/// The words of the audit log for backups and restores.
extension Backups {
    package static var auditSentences: [AuditSentence] {
        [
            AuditSentence(.gateway, "Backup", "took a backup"),
            AuditSentence(.gateway, "ScheduledBackup", "took the scheduled backup {target}"),
            AuditSentence(.gateway, "StageArchive", "opened a backup to restore it"),
            AuditSentence(.gateway, "UploadArchive", "uploaded a backup to restore it"),
            AuditSentence(.gateway, "DiscardArchive", "discarded a backup that was not restored"),
            AuditSentence(.gateway, "ApplyArchive", "requested the restore of a backup"),
            AuditSentence(.gateway, "Restore", "restored the data {target}"),
            AuditSentence(.gateway, "ReturnToPreviousData", "requested to return to the data before the restore"),
            AuditSentence(.gateway, "DeletePreviousData", "deleted the data before the restore"),
        ]
    }
}
