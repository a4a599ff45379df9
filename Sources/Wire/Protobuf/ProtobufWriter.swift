/// Writes a message into a buffer of exactly its size, from the last byte to the first.
///
/// Encoding takes two passes: `Message.encodedSize` computes the total size once, then the fields are written backwards. The length
/// of a nested message is then the distance written since its end, so no size is computed twice or stored, no byte is moved, and
/// the result is one allocation. In return, generated code has to write its fields in descending order, and repeated fields from
/// the last element.
public struct ProtobufWriter: ~Copyable {
    // The position of the byte written last; everything from it to the end of the buffer is written.
    @usableFromInline var cursor: UnsafeMutableRawPointer
    @usableFromInline let start: UnsafeMutableRawPointer
    /// Whether map entries are sorted by their keys, so that equal messages have equal bytes.
    @usableFromInline let isCanonical: Bool

    @inlinable
    init(start: UnsafeMutableRawPointer, count: Int, isCanonical: Bool) {
        self.start = start
        self.cursor = start + count
        self.isCanonical = isCanonical
    }

    /// Moves the cursor back by `count` bytes, which the caller fills. The size pass reserved the space for them.
    @inlinable
    @inline(__always)
    mutating func take(_ count: Int) {
        assert(cursor - start >= count, "encodedSize is smaller than what is written")
        cursor -= count
    }

    @inlinable
    @inline(__always)
    public mutating func varint(_ value: UInt64) {
        if value < 0x80 {
            take(1)
            cursor.storeBytes(of: UInt8(truncatingIfNeeded: value), as: UInt8.self)
        } else {
            longVarint(value)
        }
    }

    @usableFromInline
    mutating func longVarint(_ value: UInt64) {
        take(Varint.size(value))
        var rest = value
        var place = cursor
        while rest >= 0x80 {
            place.storeBytes(of: UInt8(truncatingIfNeeded: rest) | 0x80, as: UInt8.self)
            place += 1
            rest >>= 7
        }
        place.storeBytes(of: UInt8(truncatingIfNeeded: rest), as: UInt8.self)
    }

    @inlinable
    @inline(__always)
    mutating func fixed<Bits: FixedWidthInteger>(_ bits: Bits) {
        take(MemoryLayout<Bits>.size)
        cursor.storeBytes(of: bits.littleEndian, as: Bits.self)
    }

    @inlinable
    @inline(__always)
    mutating func bytes(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress else { return }
        take(bytes.count)
        cursor.copyMemory(from: source, byteCount: bytes.count)
    }

    @inlinable
    @inline(__always)
    mutating func utf8(_ string: String) {
        let isContiguous: Void? = string.utf8.withContiguousStorageIfAvailable { bytes(UnsafeRawBufferPointer($0)) }
        if isContiguous == nil { for byte in string.utf8.reversed() { fixed(byte) } }
    }

    /// Writes what `body` writes, preceded by its length.
    @inlinable
    @inline(__always)
    mutating func delimited(_ body: (inout ProtobufWriter) -> Void) {
        let end = cursor
        body(&self)
        varint(UInt64(truncatingIfNeeded: end - cursor))
    }

    public mutating func unknown(_ fields: UnknownFields) {
        fields.bytes.withUnsafeBytes { bytes($0) }
    }
}
