package import StoreClient

/// A recorded change of an upload. The journal is a list of these events, and the state is their result. The journal of a finished
/// upload is removed: until then, its last step may be repeated.
package enum UploadEvent: Codable, Sendable, Hashable {
    /// The upload of a file was requested, with these tags, including the device's. `key` is CreateLogicalUpload's idempotency key,
    /// so that a lost response leaves no second upload. `path`: the file's path below the folder that is uploaded; `nil` = it was given
    /// itself.
    case begun(source: SourceIdentity, tags: [String: String], key: String, path: String? = nil)
    /// The gateway issued an upload id: the first, or one that replaces another.
    case created(logical: String, attempt: UploadAttempt)
    /// The store began a multipart upload.
    case initiated(multipart: String)
    /// The store acknowledged a part.
    case acknowledged(part: StorePart)
    /// The store listed its parts: only these count.
    case held(parts: [StorePart])
    /// The store no longer knows the multipart upload.
    case lost
    /// The object is complete in the store; `parts` is 0 for one that was sent by a single PutObject.
    case stored(upload: String, etag: String, parts: Int)
}

/// One physical attempt of an upload; its values do not change.
package struct UploadAttempt: Codable, Sendable, Hashable {
    package let upload: String
    package let endpoint: String
    /// Empty if none was issued.
    package let region: String
    package let bucket: String
    package let key: String
    /// The size of every part but the last, in bytes.
    package let partSize: Int64

    package init(upload: String, endpoint: String, region: String, bucket: String, key: String, partSize: Int64) {
        self.upload = upload
        self.endpoint = endpoint
        self.region = region
        self.bucket = bucket
        self.key = key
        self.partSize = partSize
    }
}
