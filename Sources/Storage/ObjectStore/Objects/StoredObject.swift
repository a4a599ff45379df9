package import Basics
import Crypto
package import StoreProtocol

/// A finished object. It does not change until it is discarded or, before CompleteUpload, replaced.
package struct StoredObject: Sendable, Equatable {
    /// The place of an object in the store.
    package struct Place: Sendable, Equatable {
        package let bucket: String
        package let key: String
        package let uploadID: String

        package init(bucket: String, key: String, uploadID: String) {
            self.bucket = bucket
            self.key = key
            self.uploadID = uploadID
        }
    }

    /// The multipart upload that an object was made by.
    package struct Multipart: Sendable {
        /// The store's UploadId.
        let id: String
        let partCount: Int

        package init(id: String, partCount: Int) {
            self.id = id
            self.partCount = partCount
        }
    }

    /// The properties of an object's bytes, and of the parts that they were made of.
    package struct Content: Sendable {
        let size: Int64
        let etag: String
        let crc64: UInt64
        let crc32: UInt32?
        let checksum: Checksum?
        let origin: Multipart?

        /// - Parameter origin: the multipart upload; `nil` for an object from a single PUT.
        package init(
            size: Int64, etag: String, crc64: UInt64, crc32: UInt32? = nil, checksum: Checksum? = nil,
            origin: Multipart? = nil
        ) {
            self.size = size
            self.etag = etag
            self.crc64 = crc64
            self.crc32 = crc32
            self.checksum = checksum
            self.origin = origin
        }
    }

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
    /// The CRC-32 of the bytes; `nil` if none is recorded: an earlier version stored the object, or one of its parts, and the
    /// scrubber has not read it since.
    package let crc32: UInt32?
    package var createdAt: UnixTime
    /// Names the data file.
    package let fileID: String
    /// The store's UploadId; `nil` for an object from a single PUT.
    package let multipartID: String?
    package var contentType: String?
    /// The checksum of the bytes, or of the parts' checksums; nil where no client asked for one.
    package var checksum: Checksum?
    /// The fields that were stored with the object, for its client.
    package var kept: KeptFields
    /// Whether the scrubber found the bytes of an object that no catalog lists to be wrong.
    package var isBad = false

    package init(
        _ place: Place, _ content: Content, fileID: String, createdAt: UnixTime, contentType: String? = nil,
        kept: KeptFields = .none
    ) {
        bucket = place.bucket
        key = place.key
        uploadID = place.uploadID
        size = content.size
        etag = content.etag
        partCount = content.origin?.partCount ?? 0
        crc64 = content.crc64
        crc32 = content.crc32
        multipartID = content.origin?.id
        checksum = content.checksum
        self.fileID = fileID
        self.createdAt = createdAt
        self.contentType = contentType
        self.kept = kept
    }

    package var isMultipart: Bool { multipartID != nil }

    /// - Throws: `objectIsCorrupted` for an object that the scrubber marked: neither its bytes nor anything made of them may pass for
    ///   what was stored.
    package func requireIntact() throws(ObjectStoreError) {
        if isBad { throw .objectIsCorrupted }
    }

    /// The fields that a response has beside the bytes, and that a copy keeps. How an object is shown and cached is for an operator
    /// to say: of a device's upload only the language, its own metadata and tags are.
    package var served: KeptFields {
        DirectObject.isDirect(uploadID: uploadID) ? kept : kept.withoutPresentation
    }
}

/// An object that was put with a static key: not uploaded by a device, not in the catalog, with a key of the client's choice.
package enum DirectObject {
    private static let prefix = "direct-"

    /// Returns the value in place of other objects' upload id: one for each key.
    package static func uploadID(bucket: String, key: String) -> String {
        prefix + Hex.lower(Digest.sha256(Array("\(bucket)/\(key)".utf8)).prefix(16))
    }

    package static func isDirect(uploadID: String) -> Bool { uploadID.hasPrefix(prefix) }
}
