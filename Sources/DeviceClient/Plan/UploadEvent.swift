import StoreClient

/// What is true of an upload from now on. The journal is a list of these, and the state what they leave. The journal of an
/// upload that is over is removed: until then, its last step may be repeated.
package enum UploadEvent: Codable, Sendable, Hashable {
    /// Somebody asked for the upload of a file, with these tags: those of the device included, all together. `key` is
    /// CreateLogicalUpload's idempotency key, so that one whose answer is lost leaves no second upload.
    case begun(source: SourceIdentity, tags: [String: String], key: String)
    /// The gateway gave an upload id: the first, or one that takes the place of another.
    case created(logical: String, attempt: UploadAttempt)
    /// The store opened a multipart upload.
    case initiated(multipart: String)
    /// The store acknowledged a part.
    case acknowledged(part: StorePart)
    /// The store was asked which parts it holds: these count, and no others.
    case held(parts: [StorePart])
    /// The store does not know the multipart upload any more.
    case lost
    /// The object is whole in the store; `parts` is 0 for one that was put whole.
    case stored(upload: String, etag: String, parts: Int)
}

/// One physical attempt: what an upload id stands for, the same for its whole life.
package struct UploadAttempt: Codable, Sendable, Hashable {
    package let upload: String
    package let endpoint: String
    /// Empty where none was issued.
    package let region: String
    package let bucket: String
    package let key: String
    /// Bytes of every part but the last.
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
