import Crypto
import ObjectStore
import StoreProtocol

/// The client's description of the object that it stored.
struct CompletionClaim: Sendable {
    /// The size in bytes.
    let size: Int64
    /// Compared without regard to quotes and letter case.
    let etag: String
    let partCount: Int32
    /// The size of a part in bytes; 0 if the client does not know it.
    let partSize: Int64
    let tags: [String: String]

    var tagsDigest: [UInt8] { Self.digest(of: tags) }

    /// Returns a digest that does not depend on the order of the tags.
    static func digest(of tags: [String: String]) -> [UInt8] {
        let digest = IncrementalDigest(.sha256)
        for (key, value) in tags.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            // Tags contain no control characters, so NUL is an unambiguous terminator.
            Array("\(key)\u{0}\(value)\u{0}".utf8).withUnsafeBytes { digest.update($0) }
        }
        return digest.finalize()
    }

    /// Combines the store's own measurements with the client's tags.
    func completed(_ object: StoredObject) -> CompletedObject {
        CompletedObject(size: object.size, etag: object.etag, partCount: object.partCount, tagsDigest: tagsDigest)
    }

    /// Returns the first difference between the claim and the stored object; `nil` if they agree.
    ///
    /// - Parameter issuedPartSize: the part size that was issued with the upload's credentials.
    func disagreement(with object: CompletedObject, issuedPartSize: Int64) -> String? {
        if size != object.size { return "file_size is \(size), but \(object.size) bytes are stored" }
        if !ETag.matches(etag, object.etag) {
            return "oss_object_etag must be the stored object's ETag, \(object.etag)"
        }
        // An object from a single PUT may be claimed with one part or none.
        let isPartCount = object.partCount == 0 ? (0...1).contains(partCount) : Int(partCount) == object.partCount
        if !isPartCount { return "completed_part_count is \(partCount), but \(object.partCount) parts are stored" }
        if partSize != 0 && partSize != issuedPartSize {
            return "part_size_bytes is \(partSize), but \(issuedPartSize) was issued"
        }
        return tagsDigest == object.tagsDigest ? nil : "raw_tags differ from the tags of the completed upload"
    }
}
