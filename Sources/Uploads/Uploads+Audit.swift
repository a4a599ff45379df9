package import Capability

/// The words of the audit log for uploads.
extension Uploads {
    package static var auditSentences: [AuditSentence] { ofDevices + ofUsers + ofStaticKeys }

    private static let ofDevices = [
        AuditSentence(.upload, "CreateLogicalUpload", "began the upload {target}", several: "began {count} uploads"),
        AuditSentence(
            .upload, "ReissueUploadCredentials", "continued the upload {target}",
            several: "continued uploads {count} times"),
        AuditSentence(.upload, "CompleteUpload", "uploaded {target}", several: "uploaded {count} files"),
        AuditSentence(.upload, "AbortUpload", "aborted the upload {target}", several: "aborted {count} uploads"),
        AuditSentence(.upload, "SweepUpload", "ended the abandoned upload {target}"),
    ]

    private static let ofUsers = [
        AuditSentence(.upload, "CancelUpload", "canceled the upload {target}"),
        AuditSentence(.upload, "CreateSiteUpload", "began the upload {target}"),
        AuditSentence(.upload, "IssueSiteUploadCredentials", "continued the upload {target}"),
        AuditSentence(.upload, "CompleteSiteUpload", "uploaded {target}"),
    ]

    /// The operations of the object store, whose names differ from those of all methods, apart from DeleteObject and DeleteObjects.
    private static let ofStaticKeys = [
        AuditSentence(.upload, "PutObject", "stored {target}", several: "stored {count} objects"),
        AuditSentence(.upload, "PostObject", "stored {target}", several: "stored {count} objects"),
        AuditSentence(.upload, "AppendObject", "appended to {target}", several: "appended to objects {count} times"),
        AuditSentence(.upload, "CopyObject", "copied to {target}", several: "copied {count} objects"),
        AuditSentence(.upload, "CompleteMultipartUpload", "stored {target}", several: "stored {count} objects"),
        AuditSentence(.change, "PutObjectTagging", "tagged {target}", several: "tagged {count} objects"),
        AuditSentence(
            .change, "DeleteObjectTagging", "removed the tags of {target}",
            several: "removed the tags of {count} objects"),
    ]
}
