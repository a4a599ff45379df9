import Basics
import StoreProtocol

/// What the store holds of one gateway upload id, as committed.
package struct StoreSnapshot: Sendable, Equatable {
    /// A multipart upload that was begun and neither completed nor aborted.
    package struct Multipart: Sendable, Equatable {
        /// The UploadId that the store answered.
        package let id: String
        package let partCount: Int
    }

    /// In the order in which they were begun.
    package let multiparts: [Multipart]
    package let object: StoredObject?
    /// A data file that a row speaks of is gone: the attempt cannot be completed.
    package let isLost: Bool
}

/// How far one gateway upload id has come in the store, as committed.
package struct StoreProgress: Sendable, Equatable {
    /// A multipart upload was begun and neither completed nor aborted.
    package let hasMultipart: Bool
    /// One of those holds a part.
    package let hasPart: Bool
    package let object: StoredObject?
    /// A data file that a row speaks of is gone: the attempt cannot be completed.
    package let isLost: Bool
}

/// A finished object. It stays as it is until it is discarded or, before CompleteUpload, stored again.
package struct StoredObject: Sendable, Equatable {
    package let bucket: String
    package let key: String
    package let uploadID: String
    /// Bytes.
    package let size: Int64
    /// Exactly as HEAD gives it, with quotes.
    package let etag: String
    /// 0 for an object that was put whole.
    package let partCount: Int
    package let crc64: UInt64
    package var createdAt: UnixTime
    /// Names the data file.
    package let fileID: String
    /// The store's UploadId; nil for an object that was put whole.
    package let multipartID: String?
    package var contentType: String?
    /// The checksum of the bytes, or of the parts' checksums; nil where no client asked for one.
    package let checksum: Checksum?
    /// What its client gets back with the bytes.
    package var kept: KeptFields

    package init(
        bucket: String, key: String, uploadID: String, size: Int64, etag: String, partCount: Int, crc64: UInt64,
        createdAt: UnixTime, fileID: String, multipartID: String?, contentType: String?,
        checksum: Checksum? = nil, kept: KeptFields = .none
    ) {
        self.bucket = bucket
        self.key = key
        self.uploadID = uploadID
        self.size = size
        self.etag = etag
        self.partCount = partCount
        self.crc64 = crc64
        self.createdAt = createdAt
        self.fileID = fileID
        self.multipartID = multipartID
        self.contentType = contentType
        self.checksum = checksum
        self.kept = kept
    }

    package var isMultipart: Bool { multipartID != nil }

    /// What an answer gives back with the bytes, and a copy takes over. How an object is shown and cached is for an operator
    /// to say: of a device's upload only the language, its own metadata and tags are.
    package var served: KeptFields {
        DirectObject.isOne(uploadID: uploadID) ? kept : kept.withoutPresentation
    }
}
