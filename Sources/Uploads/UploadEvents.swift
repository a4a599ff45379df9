import Catalog
import Webhooks

/// What webhooks are told of uploads. The names are a format that others read: a new one is optional, an old one stays.
extension Event {
    private struct VerifiedObject: Encodable {
        let objectID, fileID, logicalUploadID, uploadID, bucket, objectKey: String
        /// Bytes.
        let sizeBytes: Int64
        let etag: String
        let siteID: Int64
        let deviceID: String?
        let rawTags: [String: String]
    }

    private struct AbortedUpload: Encodable {
        let logicalUploadID, uploadID, reason: String
        let siteID: Int64
        let deviceID: String?
    }

    /// The object can be downloaded from this transaction's commit on.
    static func objectVerified(
        _ object: CatalogObject, of upload: UploadRecord, tags: [String: String], traceparent: String?
    ) -> Event {
        Event(
            .objectVerified, subject: "objects/\(object.fileID)", organizationID: object.owner.organizationID,
            data: VerifiedObject(
                objectID: object.id, fileID: object.fileID, logicalUploadID: upload.logicalID, uploadID: upload.id,
                bucket: object.content.bucket, objectKey: object.content.key, sizeBytes: object.content.size,
                etag: object.content.etag, siteID: object.owner.siteID, deviceID: object.owner.deviceID,
                rawTags: tags), traceparent: traceparent)
    }

    static func uploadAborted(_ upload: UploadRecord, traceparent: String?) -> Event {
        Event(
            .uploadAborted, subject: "uploads/\(upload.logicalID)", organizationID: upload.owner.organizationID,
            data: AbortedUpload(
                logicalUploadID: upload.logicalID, uploadID: upload.id, reason: upload.abortReason ?? "",
                siteID: upload.owner.siteID, deviceID: upload.owner.deviceID), traceparent: traceparent)
    }
}
