package import Capability

/// The words of the audit log for uploads.
extension Uploads {
    package static var auditSentences: [AuditSentence] { ofDevices + ofUsers + ofStaticKeys + ofTheGateway }

    private static let ofDevices = [
        AuditSentence(.upload, "CreateLogicalUpload", "began the upload {target}", several: "began {count} uploads"),
        AuditSentence(
            .upload, "ReissueUploadCredentials", "continued the upload {target}",
            several: "continued uploads {count} times"),
        AuditSentence(.upload, "CompleteUpload", "uploaded {target}", several: "uploaded {count} files"),
        AuditSentence(.upload, "AbortUpload", "aborted the upload {target}", several: "aborted {count} uploads"),
    ]

    private static let ofUsers = [
        AuditSentence(.upload, "CancelUpload", "canceled the upload {target}"),
        AuditSentence(.upload, "CreateSiteUpload", "began the upload {target}"),
        AuditSentence(.upload, "IssueSiteUploadCredentials", "continued the upload {target}"),
        AuditSentence(.upload, "CompleteSiteUpload", "uploaded {target}"),
    ]

    private static let ofTheGateway = [
        AuditSentence(.upload, "SweepUpload", "ended the abandoned upload {target}"),
        AuditSentence(.gateway, "ReportNearlyFullStorage", "reported that storage is nearly full: {target}"),
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
