/// A protobuf message. Generated code conforms; nobody else does.
///
/// A singular message field and an `optional` field are Swift optionals, a `oneof` is an optional enum, `bytes` is
/// `[UInt8]`, a map is a dictionary.
public protocol Message: Sendable, Equatable {
    /// The full name in its `.proto` file, e.g. `archebase.auth.v1.LoginRequest`.
    static var fullName: String { get }

    /// Fields that came in and are not of this message's type; written again after the known ones.
    var unknownFields: UnknownFields { get set }

    /// A message with every field at its initial value.
    init()

    /// Reads fields to the reader's end: singular ones replace or, being messages, merge; repeated ones append.
    mutating func merge(from reader: inout ProtobufReader) throws(DecodingError)

    /// The encoded length in bytes.
    var encodedSize: Int { get }

    /// Writes every field that is set, in descending order of the declaration.
    func write(to writer: inout ProtobufWriter)
}

extension Message {
    /// - Throws: `DecodingError` when the bytes are not a message. Nothing is allocated for a length before the bytes
    ///   for it are known to be there.
    @inlinable
    public init(decoding bytes: UnsafeRawBufferPointer) throws(DecodingError) {
        self.init()
        try merge(decoding: bytes)
    }

    /// The same for an array.
    public init(decoding bytes: [UInt8]) throws(DecodingError) {
        self.init()
        try merge(decoding: bytes)
    }

    /// Merges an encoded message into this one. After a throw its contents are unspecified, and safe.
    @inlinable
    public mutating func merge(decoding bytes: UnsafeRawBufferPointer) throws(DecodingError) {
        guard let start = bytes.baseAddress else { return }
        guard bytes.count <= ProtobufReader.sizeLimit else { throw .tooLarge }
        var reader = ProtobufReader(start: start, count: bytes.count)
        try merge(from: &reader)
    }

    public mutating func merge(decoding bytes: [UInt8]) throws(DecodingError) {
        try bytes.withUnsafeBufferPointer { (buffer) throws(DecodingError) in
            try merge(decoding: UnsafeRawBufferPointer(buffer))
        }
    }

    /// The message in a buffer of exactly its size.
    ///
    /// - Parameters:
    ///   - prefix: Bytes left free in front, zeroed; gRPC puts its five there.
    ///   - canonical: Write map entries in the order of their keys, so that equal messages have equal bytes.
    @inlinable
    public func encoded(reserving prefix: Int = 0, canonical: Bool = false) -> [UInt8] {
        let size = encodedSize
        return [UInt8](unsafeUninitializedCapacity: prefix + size) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            start.initialize(repeating: 0, count: prefix)
            let body = UnsafeMutableRawPointer(start + prefix)
            var writer = ProtobufWriter(start: body, count: size, isCanonical: canonical)
            write(to: &writer)
            precondition(writer.cursor == body, "encodedSize differs from what is written")
            count = prefix + size
        }
    }
}
