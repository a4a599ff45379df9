import Platform

/// What the store holds of one gateway upload id, as committed.
public struct StoreSnapshot: Sendable, Equatable {
    /// A multipart upload that was begun and neither completed nor aborted.
    public struct Multipart: Sendable, Equatable {
        /// The UploadId that the store answered.
        public let id: String
        public let partCount: Int
    }

    /// In the order in which they were begun.
    public let multiparts: [Multipart]
    public let object: StoredObject?
    /// A data file that a row speaks of is gone: the attempt cannot be completed.
    public let isLost: Bool
}

/// How far one gateway upload id has come in the store, as committed.
public struct StoreProgress: Sendable, Equatable {
    /// A multipart upload was begun and neither completed nor aborted.
    public let hasMultipart: Bool
    /// One of those holds a part.
    public let hasPart: Bool
    public let object: StoredObject?
    /// A data file that a row speaks of is gone: the attempt cannot be completed.
    public let isLost: Bool
}

/// A finished object. It stays as it is until it is discarded or, before CompleteUpload, stored again.
public struct StoredObject: Sendable, Equatable {
    public let bucket: String
    public let key: String
    public let uploadID: String
    /// Bytes.
    public let size: Int64
    /// Exactly as HEAD gives it, with quotes.
    public let etag: String
    /// 0 for an object that was put whole.
    public let partCount: Int
    public let crc64: UInt64
    public let createdAt: UnixTime
    /// Names the data file.
    public let fileID: String
    /// The store's UploadId; nil for an object that was put whole.
    public let multipartID: String?
    public let contentType: String?
    /// Of the bytes, or of the parts' checksums; nil where no client asked for one.
    public let checksum: Checksum?

    public init(
        bucket: String, key: String, uploadID: String, size: Int64, etag: String, partCount: Int, crc64: UInt64,
        createdAt: UnixTime, fileID: String, multipartID: String?, contentType: String?,
        checksum: Checksum? = nil
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
    }

    public var isMultipart: Bool { multipartID != nil }
}
