package import Basics
import Catalog
import FoundationEssentials
package import ObjectStore
import StoreProtocol

/// The JSON file beside a completed upload's data file, which contains everything needed to list the object again.
///
/// Times are microseconds since 1970. The names are an on-disk format: new fields are optional, existing ones stay.
package struct ObjectFacts: Codable, Sendable, Equatable {
    package let objectID: String
    package let fileID: String
    let uploadID: String
    let logicalUploadID: String
    package let organizationID: Int64
    let siteID: Int64
    let suiteID: Int64?
    package let deviceID: String?
    let bucket: String
    let objectKey: String
    let endpoint: String
    let region: String
    let backend: String
    let partSize: Int64
    /// The size in bytes.
    package let size: Int64
    let etag: String
    let partCount: Int
    let crc64: UInt64
    /// `nil` if none was recorded.
    let crc32: UInt32?
    let multipartID: String?
    let contentType: String?
    /// The text form of ``Checksum``; `nil` if no client requested one.
    let checksum: String?
    let createdAt: Int64
    let storedAt: Int64
    let verifiedAt: Int64
    let sessionEndsAt: Int64
    let isRestart: Bool
    package let tags: [String: String]
    /// The name in the catalog; `nil` in files of versions that kept no names.
    let name: String?
    var detectedContentType: String?
    let recordedFrom: Int64?
    let recordedTo: Int64?
    let relativePath: String?

    enum CodingKeys: String, CodingKey {
        case objectID = "object_id"
        case fileID = "file_id"
        case uploadID = "upload_id"
        case logicalUploadID = "logical_upload_id"
        case organizationID = "organization_id"
        case siteID = "site_id"
        case suiteID = "suite_id"
        case deviceID = "device_id"
        case bucket
        case objectKey = "object_key"
        case endpoint
        case region
        case backend
        case partSize = "part_size"
        case size
        case etag
        case partCount = "part_count"
        case crc64
        case crc32
        case multipartID = "multipart_id"
        case contentType = "content_type"
        case checksum
        case createdAt = "created_at"
        case storedAt = "stored_at"
        case verifiedAt = "verified_at"
        case sessionEndsAt = "session_ends_at"
        case isRestart = "is_restart"
        case tags
        case name
        case detectedContentType = "detected_content_type"
        case recordedFrom = "recorded_from"
        case recordedTo = "recorded_to"
        case relativePath = "relative_path"
    }

    init(_ object: CatalogObject, _ stored: StoredObject, _ upload: UploadRecord, tags: [String: String]) {
        objectID = object.id
        fileID = object.fileID
        uploadID = upload.id
        logicalUploadID = upload.logicalID
        organizationID = object.owner.organizationID
        siteID = object.owner.siteID
        suiteID = object.owner.suiteID
        deviceID = object.owner.deviceID
        bucket = object.content.bucket
        objectKey = object.content.key
        endpoint = upload.location.endpoint
        region = upload.location.region
        backend = upload.location.backend
        partSize = upload.location.partSize
        size = object.content.size
        etag = object.content.etag
        partCount = stored.partCount
        crc64 = stored.crc64
        crc32 = stored.crc32
        multipartID = stored.multipartID
        contentType = stored.contentType
        checksum = stored.checksum?.description
        createdAt = object.times.createdAt.microseconds
        storedAt = stored.createdAt.microseconds
        verifiedAt = object.times.verifiedAt.microseconds
        sessionEndsAt = upload.sessionEndsAt.microseconds
        isRestart = upload.isRestart
        self.tags = tags
        name = object.description.name?.text
        detectedContentType = object.description.contentType
        recordedFrom = object.description.recordedFrom?.microseconds
        recordedTo = object.description.recordedTo?.microseconds
        relativePath = object.description.relativePath?.text
    }

    /// The description in the catalog.
    var description: CatalogObject.Description {
        CatalogObject.Description(
            name: name.map { FileName(verbatim: $0) }, relativePath: relativePath.flatMap { RelativePath($0) },
            contentType: detectedContentType ?? ContentType.unknown,
            crc64: crc64, recordedFrom: recordedFrom.map { UnixTime(microseconds: $0) },
            recordedTo: recordedTo.map { UnixTime(microseconds: $0) })
    }

    /// Returns `nil` for anything that `encoded` does not produce, e.g. a file that a power loss cut short.
    package init?(_ bytes: [UInt8]) {
        guard let facts = try? JSONDecoder().decode(ObjectFacts.self, from: Data(bytes)) else { return nil }
        self = facts
    }

    var encoded: [UInt8] {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return [UInt8](try encoder.encode(self))
        }
    }

    /// The file's name at its source.
    package var fileName: String? { name ?? tags[FileName.tagKey] }

    /// The time of the successful CompleteUpload.
    package var completedAt: UnixTime { UnixTime(microseconds: verifiedAt) }

    /// The data file as it was stored.
    package var file: StoredFile { StoredFile(fileID: fileID, size: size, crc64: crc64) }

    /// Whether these can be the facts of the given data file.
    package func isOf(fileID: String, size: Int64) -> Bool {
        self.fileID == fileID && self.size == size
    }
}
