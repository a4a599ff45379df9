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

    /// 36 characters, as `Identifiers` makes them.
    package let id: String
    /// What clients ask for it by; also the name of its data file in the store.
    package let fileID: String
    package let uploadID: String
    /// That of the upload.
    package let owner: ObjectOwner
    package let content: Content
    package let times: Times
    /// Its bytes are no more what was verified.
    package internal(set) var isBad = false

    package init(
        id: String, fileID: String, uploadID: String, owner: ObjectOwner, content: Content, times: Times
    ) {
        self.id = id
        self.fileID = fileID
        self.uploadID = uploadID
        self.owner = owner
        self.content = content
        self.times = times
    }
}
