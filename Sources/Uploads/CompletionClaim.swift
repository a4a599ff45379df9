import Crypto
import ObjectStore
import StoreProtocol

/// What a client says that it stored.
struct CompletionClaim: Sendable {
    /// Bytes.
    let size: Int64
    /// Quotes and letter case do not matter.
    let etag: String
    let partCount: Int32
    /// Bytes; 0 from clients that do not know it.
    let partSize: Int64
    let tags: [String: String]

    var tagsDigest: [UInt8] { Self.digest(of: tags) }

    /// The same for equal tags, whatever their order.
    static func digest(of tags: [String: String]) -> [UInt8] {
        let digest = IncrementalDigest(.sha256)
        for (key, value) in tags.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            // No tag holds a control character, so these end what stands before them.
            Array("\(key)\u{0}\(value)\u{0}".utf8).withUnsafeBytes { digest.update($0) }
        }
        return digest.finalize()
    }

    /// What the store measured as the bytes came in, with the client's tags.
    func completed(_ object: StoredObject) -> CompletedObject {
        CompletedObject(size: object.size, etag: object.etag, partCount: object.partCount, tagsDigest: tagsDigest)
    }

    /// In what the claim differs from what is there; `nil` where it agrees.
    ///
    /// - Parameter issuedPartSize: the one that came with the upload's credentials.
    func disagreement(with object: CompletedObject, issuedPartSize: Int64) -> String? {
        if size != object.size { return "file_size is \(size), but \(object.size) bytes are stored" }
        if !ETag.matches(etag, object.etag) {
            return "oss_object_etag must be the stored object's ETag, \(object.etag)"
        }
        // An object that was put whole is one piece or no parts, as one likes.
        let isPartCount = object.partCount == 0 ? (0...1).contains(partCount) : Int(partCount) == object.partCount
        if !isPartCount { return "completed_part_count is \(partCount), but \(object.partCount) parts are stored" }
        if partSize != 0 && partSize != issuedPartSize {
            return "part_size_bytes is \(partSize), but \(issuedPartSize) was issued"
        }
        return tagsDigest == object.tagsDigest ? nil : "raw_tags differ from the tags of the completed upload"
    }
}
