import Basics
import Catalog
import Webhooks

/// The contents of webhook events about uploads. The names are a public format: new fields are optional, existing ones stay.
extension Event {
    private struct VerifiedObject: Encodable {
        let objectID, fileID, logicalUploadID, uploadID, bucket, objectKey: String
        /// The size in bytes.
        let sizeBytes: Int64
        let etag: String
        let siteID: Int64
        let deviceID: String?
        let rawTags: [String: String]
    }

    private struct FailedUpload: Encodable {
        let logicalUploadID, uploadID, cause, reason: String
        let fileName: String?
        let siteID: Int64
        let deviceID: String?
    }

    private struct NearlyFullStorage: Encodable {
        let siteID: Int64?
        let deviceID: String?
        let usedBytes, quotaBytes, freeBytes, minimumFreeBytes: Int64?
    }

    private struct AbortedUpload: Encodable {
        let logicalUploadID, uploadID, reason: String
        let siteID: Int64
        let deviceID: String?
    }

    /// Makes the event for an object that can be downloaded once this transaction is committed.
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

    static func uploadFailed(_ upload: UploadRecord, _ failure: UploadFailure, traceparent: String?) -> Event {
        Event(
            .uploadFailed, subject: "uploads/\(upload.logicalID)", organizationID: upload.owner.organizationID,
            data: FailedUpload(
                logicalUploadID: upload.logicalID, uploadID: upload.id, cause: failure.rawValue,
                reason: failure == .expired ? UploadFailure.expiry : upload.abortReason ?? "",
                fileName: upload.hints.fileName?.text, siteID: upload.owner.siteID, deviceID: upload.owner.deviceID),
            traceparent: traceparent)
    }

    static func storageNearlyFull(_ level: StorageLevel, organizationID: Int64) -> Event {
        let data =
            switch level.subject {
            case .site(let id):
                NearlyFullStorage(
                    siteID: id, deviceID: nil, usedBytes: level.bytes, quotaBytes: level.limit, freeBytes: nil,
                    minimumFreeBytes: nil)
            case .device(let id):
                NearlyFullStorage(
                    siteID: nil, deviceID: id, usedBytes: level.bytes, quotaBytes: level.limit, freeBytes: nil,
                    minimumFreeBytes: nil)
            case .disk:
                NearlyFullStorage(
                    siteID: nil, deviceID: nil, usedBytes: nil, quotaBytes: nil, freeBytes: level.bytes,
                    minimumFreeBytes: level.limit)
            }
        return Event(
            .storageNearlyFull, subject: level.subject.name, organizationID: organizationID, data: data)
    }
}

/// The cause for which an attempt ended without an object, unless somebody canceled it.
enum UploadFailure: String, Sendable {
    /// Its device, or its site's program, aborted it.
    case aborted
    case expired

    /// The reason of the end of a session.
    static let expiry = "nothing was received until the end of its session"
}
