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
