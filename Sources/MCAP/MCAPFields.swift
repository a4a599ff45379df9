/// The fields of a record, in their order (https://mcap.dev/spec, section "Serialization"): little-endian numbers, texts and maps
/// with their length in bytes.
struct MCAPFields {
    private let bytes: ArraySlice<UInt8>
    private var position: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    /// The number of bytes that were read or skipped.
    var bytesTaken: Int { position - bytes.startIndex }

    mutating func skip(_ count: Int) throws(MCAPError) {
        _ = try take(count)
    }

    mutating func number<Number: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
        _ type: Number.Type = Number.self
    ) throws(MCAPError) -> Number {
        let field = try take(MemoryLayout<Number>.size)
        return field.withUnsafeBytes { Number(littleEndian: $0.loadUnaligned(as: Number.self)) }
    }

    mutating func take(_ count: Int) throws(MCAPError) -> ArraySlice<UInt8> {
        guard count <= bytes.endIndex - position else { throw .malformed("a field is longer than its record") }
        defer { position += count }
        return bytes[position..<position + count]
    }
}
