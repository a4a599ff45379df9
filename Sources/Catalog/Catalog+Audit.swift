package import Capability
import Database

/// The words of the audit log for objects.
extension Catalog {
    package static var auditSentences: [AuditSentence] { downloads + deletions + changes }

    private static let downloads = [
        AuditSentence(.download, "RequestDownload", "downloaded {targets}"),
        AuditSentence(.download, "ViewObjects", "viewed {targets}", several: "viewed {targets} {count} times"),
        AuditSentence(.download, "ZipObjects", "downloaded an archive with {targets}"),
        AuditSentence(.download, "PresignObject", "got a URL of {target}", several: "got {count} URLs of objects"),
        AuditSentence(.download, "ReadObject", "read {target}", several: "read {count} objects"),
    ]

    private static let deletions = [
        AuditSentence(.deletion, "DeleteObject", "deleted {targets}", several: "deleted {count} objects"),
        AuditSentence(.deletion, "RestoreObject", "restored {targets}"),
        AuditSentence(.deletion, "PurgeObject", "permanently deleted {targets}"),
        AuditSentence(
            .deletion, "DeleteObjects", "began to delete objects: {target}", several: "deleted {count} objects"),
        AuditSentence(.deletion, "RestoreObjects", "began to restore objects: {target}"),
        AuditSentence(.deletion, "PurgeObjects", "began to permanently delete objects: {target}"),
        AuditSentence(.deletion, "UndoObjectOperation", "began to undo a deletion"),
        AuditSentence(.deletion, "CancelObjectOperation", "canceled an operation on objects: {target}"),
        AuditSentence(.deletion, "ApplyDeleteObjects", "deleted {targets}: {target}"),
        AuditSentence(.deletion, "ApplyRestoreObjects", "restored {targets}: {target}"),
        AuditSentence(.deletion, "ApplyPurgeObjects", "permanently deleted {targets}: {target}"),
        AuditSentence(.deletion, "ApplyUndoObjectOperation", "restored {targets} of a deletion"),
        AuditSentence(.deletion, "SetTrashSettings", "changed the time that objects stay in the trash"),
        AuditSentence(.deletion, "SetRetention", "changed the retention"),
        AuditSentence(.deletion, "ApplyRetention", "deleted {targets} by the retention"),
        AuditSentence(.deletion, "SweepTrash", "removed {targets} from the trash, after its time"),
        AuditSentence(.deletion, "DeleteExpiredObjects", "deleted {count} expired objects of the {target}"),
    ]

    private static let changes = [
        AuditSentence(.change, "UpdateObject", "changed the tags of {targets}"),
        AuditSentence(.change, "SaveSearch", "saved the search {target}"),
        AuditSentence(.change, "DeleteSavedSearch", "deleted the saved search {target}"),
        AuditSentence(.gateway, "MarkBad", "found {targets} corrupted"),
        AuditSentence(.gateway, "MarkVerified", "found {targets} intact again"),
        AuditSentence(.gateway, "TakeIn", "re-adopted {targets}"),
    ]

    package static var targetKinds: [TargetKind] {
        [
            objects("objects", by: "file_id"),
            objects("files", by: "file_id"),
            // The object that the upload stored, if it is complete.
            objects("uploads", by: "upload_id"),
            TargetKind(
                "objectOperations", ("operation", "operations"), "filter, reason", from: "object_operations"
            ) { row in
                let (filter, reason) = (row.text("filter"), row.text("reason"))
                let parts = [("filter", filter), ("reason", reason)].filter { !$0.1.isEmpty }
                return TargetName(parts.map { "\($0.0) \"\($0.1)\"" }.joined(separator: ", "))
            },
            TargetKind(
                "savedSearches", ("saved search", "saved searches"), from: "saved_searches", by: .number("id")),
        ]
    }

    private static func objects(_ kind: String, by column: String) -> TargetKind {
        TargetKind(
            kind, kind == "uploads" ? ("upload", "uploads") : ("object", "objects"), "file_id, name, trashed_at",
            from: "objects", by: .text(column)
        ) { row in
            TargetName(
                row.optionalText("name") ?? "", resource: "objects/\(row.text("file_id"))",
                state: row.optionalInt64("trashed_at") == nil ? .present : .trashed)
        }
    }
}
