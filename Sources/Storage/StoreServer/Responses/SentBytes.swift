import HTTPTypes
import ObjectStore
import StoreProtocol

/// One of the parts that an object was made of.
struct ObjectPart {
    let range: Range<Int64>
    /// The number of all parts.
    let count: Int
    /// The checksum of the part's bytes.
    let checksum: Checksum?
}

/// The bytes of an object that a GET or HEAD receives, or would receive: all of them, a range, or one part.
struct SentBytes {
    let range: Range<Int64>
    /// 200 for all bytes, 206 for some of them.
    let status: Int
    /// The fields that describe the selection.
    let fields: HTTPFields
    /// The checksum of these bytes, or of the parts of the whole object; `nil` if none is stored.
    let checksum: Checksum?

    /// - Parameters:
    ///   - requested: the range that the client asks for; `nil` = all bytes. Without effect beside `part`.
    /// - Returns: `nil` if the range is not satisfiable (416).
    init?(of object: StoredObject, _ requested: ByteRange?, part: ObjectPart?) {
        let whole = 0..<object.size
        if let part {
            var fields = Self.contentRange(part.range, of: object)
            if object.isMultipart { fields.append("x-amz-mp-parts-count", String(part.count)) }
            self.init(range: part.range, status: 206, fields: fields, checksum: part.checksum)
        } else if let requested, !(object.size == 0 && requested.isSuffixOfBytes) {
            guard let range = requested.resolved(in: object.size) else { return nil }
            self.init(range: range, status: 206, fields: Self.contentRange(range, of: object), checksum: nil)
        } else {
            self.init(range: whole, status: 200, fields: [:], checksum: object.checksum)
        }
    }

    private init(range: Range<Int64>, status: Int, fields: HTTPFields, checksum: Checksum?) {
        self.range = range
        self.status = status
        self.fields = fields
        self.checksum = checksum
    }

    /// Returns no field for an empty part, since Content-Range cannot name an empty range (RFC 9110, section 14.4).
    private static func contentRange(_ range: Range<Int64>, of object: StoredObject) -> HTTPFields {
        guard let last = range.last else { return [:] }
        return ["Content-Range": "bytes \(range.lowerBound)-\(last)/\(object.size)"]
    }
}
