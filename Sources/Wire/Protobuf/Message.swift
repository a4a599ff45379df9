/// A protobuf message. Only generated code conforms.
///
/// A singular message field and an `optional` field are Swift optionals, a `oneof` is an optional enum, `bytes` is
/// `[UInt8]`, a map is a dictionary.
public protocol Message: Sendable, Equatable {
    /// The full name in its `.proto` file, e.g. `archebase.auth.v1.LoginRequest`.
    static var fullName: String { get }

    /// Fields that were received and that this message's type does not have; they are written after the known ones.
    var unknownFields: UnknownFields { get set }

    /// A message with every field at its initial value.
    init()

    /// Reads fields up to the reader's end: singular fields replace, or merge if they are messages; repeated fields append.
    mutating func merge(from reader: inout ProtobufReader) throws(DecodingError)

    /// The encoded length in bytes.
    var encodedSize: Int { get }

    /// Writes every field that is set, in descending order of their declaration.
    func write(to writer: inout ProtobufWriter)
}

extension Message {
    /// Decodes a message. No memory is allocated for a length before its bytes are known to exist.
    ///
    /// - Throws: `DecodingError` if the bytes are not a message.
    @inlinable
    public init(decoding bytes: UnsafeRawBufferPointer) throws(DecodingError) {
        self.init()
        try merge(decoding: bytes)
    }

    /// Decodes a message from an array.
    public init(decoding bytes: [UInt8]) throws(DecodingError) {
        self.init()
        try merge(decoding: bytes)
    }

    /// Merges an encoded message into this one. After an error the contents are unspecified but safe to use.
    ///
    /// - Parameter permitsNullCharacter: whether strings may have the character U+0000, as protobuf permits.
    @inlinable
    public mutating func merge(
        decoding bytes: UnsafeRawBufferPointer, permitsNullCharacter: Bool = true
    ) throws(DecodingError) {
        guard let start = bytes.baseAddress else { return }
        guard bytes.count <= ProtobufReader.sizeLimit else { throw .tooLarge }
        var reader = ProtobufReader(
            start: start, count: bytes.count, permitsNullCharacter: permitsNullCharacter)
        try merge(from: &reader)
    }

    public mutating func merge(decoding bytes: [UInt8]) throws(DecodingError) {
        try bytes.withUnsafeBufferPointer { (buffer) throws(DecodingError) in
            try merge(decoding: UnsafeRawBufferPointer(buffer))
        }
    }

    /// Encodes the message into a buffer of exactly its size.
    ///
    /// - Parameters:
    ///   - prefix: the number of zero bytes in front of the message; gRPC puts its prefix of five bytes there.
    ///   - canonical: whether map entries are sorted by their keys, so that equal messages have equal bytes.
    @inlinable
    public func encoded(reserving prefix: Int = 0, canonical: Bool = false) -> [UInt8] {
        let size = encodedSize
        // The initializer would write the count of the empty array, which all threads share.
        guard prefix + size > 0 else { return [] }
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

/// The fields of a message that its type does not have, unchanged and in the order of arrival.
///
/// They are written after the known fields, so that an older program preserves them when it forwards a message.
public struct UnknownFields: Sendable, Hashable {
    /// Tags and values, in protobuf's encoding.
    @usableFromInline var bytes: [UInt8] = []

    @inlinable
    public init() {}

    @inlinable public var isEmpty: Bool { bytes.isEmpty }
    /// The encoded length in bytes.
    @inlinable public var count: Int { bytes.count }

    /// Calls `body` with the encoded fields.
    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes(body)
    }

    mutating func append(tag: UInt32, value: UnsafeRawBufferPointer) {
        bytes.append(varint: UInt64(tag))
        bytes.append(contentsOf: value)
    }
}

/// A message stored by reference, with the value semantics of the message itself.
///
/// Generated code uses it for a message that contains itself, which a Swift struct cannot.
public struct Indirect<Value: Message>: Sendable, Equatable {
    private final class Box: Sendable {
        let value: Value

        init(_ value: Value) {
            self.value = value
        }
    }

    private let box: Box

    public init(_ value: Value) {
        box = Box(value)
    }

    public var value: Value { box.value }

    public static func == (first: Indirect, second: Indirect) -> Bool {
        first.box === second.box || first.value == second.value
    }
}
