package import Basics
import HTTPTypes
import StoreProtocol

/// The properties of an object to be stored, and the conditions for that.
package struct S3Properties: Sendable {
    /// The encryption that the store applies at rest.
    package enum Encryption: Sendable, Hashable {
        /// With a key of the store.
        case store
        /// With a key of a key management service; `nil` = its default key. The ETag is no MD5.
        case keyManagement(keyID: String?)
    }

    package var contentType = ContentType.unknown
    /// Whether the object is stored only if none of its key exists.
    package var isNew = false
    /// The ETag of the object that is replaced.
    package var ifMatch: String?
    /// The MD5 of the bytes, 16 bytes, which the store compares.
    package var md5: [UInt8]?
    /// Values by name, without the prefix `x-amz-meta-`.
    package var metadata: [(name: String, value: String)] = []
    /// `nil` = the bucket's.
    package var storageClass: String?
    /// `nil` = the bucket's.
    package var encryption: Encryption?

    package init() {}

    var fields: HTTPFields {
        var fields: HTTPFields = ["Content-Type": contentType]
        if isNew { fields.append("If-None-Match", "*") }
        if let ifMatch { fields.append("If-Match", ifMatch) }
        if let md5 { fields.append("Content-MD5", Base64.encode(md5)) }
        for (name, value) in metadata { fields.append("x-amz-meta-\(name)", value) }
        if let storageClass { fields.append("x-amz-storage-class", storageClass) }
        switch encryption {
        case nil: break
        case .store: fields.append("x-amz-server-side-encryption", "AES256")
        case .keyManagement(let keyID):
            fields.append("x-amz-server-side-encryption", "aws:kms")
            if let keyID { fields.append("x-amz-server-side-encryption-aws-kms-key-id", keyID) }
        }
        return fields
    }
}

/// The properties of a stored object.
package struct S3Description: Sendable, Equatable {
    package let size: Int64
    package let etag: String
    package let modifiedAt: UnixTime?
    /// Values by name, without the prefix `x-amz-meta-`; names are in lower case.
    package let metadata: [String: String]

    init?(_ fields: HTTPFields) {
        guard let size = fields["content-length"].flatMap({ Int64($0) }), let etag = fields["etag"] else { return nil }
        self.size = size
        self.etag = etag
        modifiedAt = fields["last-modified"].flatMap { Timestamps.parseHTTP($0) }
        let prefix = "x-amz-meta-"
        metadata = Dictionary(
            fields.fields.filter { $0.name.hasPrefix(prefix) }.map {
                (String($0.name.dropFirst(prefix.count)), $0.value)
            },
            uniquingKeysWith: { first, _ in first })
    }
}
