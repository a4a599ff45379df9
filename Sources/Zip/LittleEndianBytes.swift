/// Reads the little-endian integers of records one after the other.
struct LittleEndianReader {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    /// - Throws: ``ZipError/malformed(_:)`` if fewer bytes are left.
    mutating func read<Value: FixedWidthInteger & UnsignedInteger>(
        _ type: Value.Type = Value.self
    ) throws(ZipError) -> Value {
        try take(Value.bitWidth / 8).reversed().reduce(0) { $0 << 8 | Value($1) }
    }

    mutating func take(_ count: Int) throws(ZipError) -> ArraySlice<UInt8> {
        guard count <= rest.count else { throw .malformed("a record is shorter than its fields") }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }
}

extension [UInt8] {
    mutating func append(littleEndian value: some FixedWidthInteger & UnsignedInteger) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }
}
