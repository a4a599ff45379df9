import Basics

/// A verified object, as the catalog keeps it.
package struct CatalogObject: Sendable, Hashable {
    /// What is stored, and where.
    package struct Content: Sendable, Hashable {
        package let bucket: String
        package let key: String
        /// In bytes.
        package let size: Int64
        /// Exactly as HEAD gives it, with quotes.
        package let etag: String

        package init(bucket: String, key: String, size: Int64, etag: String) {
            self.bucket = bucket
            self.key = key
            self.size = size
            self.etag = etag
        }
    }

    package struct Times: Sendable, Hashable {
        package let createdAt: UnixTime
        package let uploadedAt: UnixTime
        package let verifiedAt: UnixTime

        package init(createdAt: UnixTime, uploadedAt: UnixTime, verifiedAt: UnixTime) {
            self.createdAt = createdAt
            self.uploadedAt = uploadedAt
            self.verifiedAt = verifiedAt
        }
    }

    /// What people and programs know the content by.
    package struct Description: Sendable, Hashable {
        /// `nil` = the object is of a version that kept no names.
        package let name: FileName?
        /// A media type.
        package let contentType: String
        /// CRC-64/XZ of the bytes; `nil` where it is not known.
        package let crc64: UInt64?
        /// The time that the content covers, where the client told it.
        package let recordedFrom: UnixTime?
        package let recordedTo: UnixTime?

        /// Nothing is known of it.
        package static let none = Description(name: nil, contentType: ContentType.unknown, crc64: nil)

        package init(
            name: FileName?, contentType: String, crc64: UInt64?, recordedFrom: UnixTime? = nil,
            recordedTo: UnixTime? = nil
        ) {
            self.name = name
            self.contentType = contentType
            self.crc64 = crc64
            self.recordedFrom = recordedFrom
            self.recordedTo = recordedTo
        }
    }

    /// 36 characters, as `Identifiers` makes them.
    package let id: String
    /// What clients ask for it by; also the name of its data file in the store.
    package let fileID: String
    package let uploadID: String
    /// The owner of its upload.
    package let owner: ObjectOwner
    package let content: Content
    package let times: Times
    package let description: Description
    /// When it was moved to the trash; `nil` = it was not.
    package internal(set) var trashedAt: UnixTime?
    /// Whether the object is corrupted: its bytes no longer match its checksum.
    package internal(set) var isBad = false

    package init(
        id: String, fileID: String, uploadID: String, owner: ObjectOwner, content: Content, times: Times,
        description: Description = .none
    ) {
        self.id = id
        self.fileID = fileID
        self.uploadID = uploadID
        self.owner = owner
        self.content = content
        self.times = times
        self.description = description
    }

    /// The name to show and to save it under.
    package func name(tags: [String: String]) -> FileName {
        description.name ?? ObjectNaming.name(hint: nil, tags: tags, owner: owner, createdAt: times.createdAt)
    }
}
