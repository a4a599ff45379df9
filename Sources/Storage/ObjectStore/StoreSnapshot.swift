import Basics
import StoreProtocol

/// The store's committed state of one upload id.
package struct StoreSnapshot: Sendable, Equatable {
    /// A multipart upload that is neither completed nor aborted.
    package struct Multipart: Sendable, Equatable {
        /// The UploadId that the store returned.
        package let id: String
        package let partCount: Int
    }

    /// The open multipart uploads in the order of their beginning.
    package let multiparts: [Multipart]
    package let object: StoredObject?
    /// Whether a data file with a row is missing, so that the attempt cannot be completed.
    package let isLost: Bool
}

/// The store's committed progress of one upload id.
package struct StoreProgress: Sendable, Equatable {
    /// Whether a multipart upload is neither completed nor aborted.
    package let hasMultipart: Bool
    /// Whether one of those has a part.
    package let hasPart: Bool
    package let object: StoredObject?
    /// Whether a data file with a row is missing, so that the attempt cannot be completed.
    package let isLost: Bool
}

/// A finished object. It does not change until it is discarded or, before CompleteUpload, replaced.
package struct StoredObject: Sendable, Equatable {
    package let bucket: String
    package let key: String
    package let uploadID: String
    /// The size in bytes.
    package let size: Int64
    /// The entity tag exactly as in responses to HEAD, with quotes.
    package let etag: String
    /// The number of parts; 0 for an object from a single PUT.
    package let partCount: Int
    package let crc64: UInt64
    package var createdAt: UnixTime
    /// Names the data file.
    package let fileID: String
    /// The store's UploadId; `nil` for an object from a single PUT.
    package let multipartID: String?
    package var contentType: String?
    /// The checksum of the bytes, or of the parts' checksums; nil where no client asked for one.
    package let checksum: Checksum?
    /// The fields that were stored with the object, for its client.
    package var kept: KeptFields
    /// Whether the scrubber found the bytes of an object that no catalog lists to be wrong.
    package var isBad = false

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

    /// - Throws: `invalidObjectState` for an object that the scrubber marked: neither its bytes nor anything made of them may pass for
    ///   what was stored.
    package func requireIntact() throws(StoreError) {
        if isBad { throw .objectIsCorrupted }
    }

    /// The fields that a response has beside the bytes, and that a copy keeps. How an object is shown and cached is for an operator
    /// to say: of a device's upload only the language, its own metadata and tags are.
    package var served: KeptFields {
        DirectObject.isOne(uploadID: uploadID) ? kept : kept.withoutPresentation
    }
}
