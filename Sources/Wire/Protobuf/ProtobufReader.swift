import Glibc

/// A cursor over the bytes of one message; the only place where decoding uses unchecked memory access.
///
/// The owner keeps the bytes alive while the reader is in use (`Message.init(decoding:)` does). After an error the reader must not
/// be used again.
public struct ProtobufReader: ~Copyable {
    /// The deepest nesting of messages and groups, the same as in other implementations.
    public static let depthLimit = 100

    /// The longest encoded message, in bytes: below 2 GiB, as in protobuf's encoding guide. Code that receives messages from
    /// untrusted peers has to apply lower limits before the message is in memory.
    public static let sizeLimit = Int(Int32.max)

    // Always `cursor <= end`, both inside the same buffer; `end` is the end of the innermost message.
    @usableFromInline var cursor: UnsafeRawPointer
    @usableFromInline var end: UnsafeRawPointer
    @usableFromInline var depthLeft: Int
    /// Whether strings may have the character U+0000, as protobuf permits.
    @usableFromInline let permitsNullCharacter: Bool

    @inlinable
    package init(start: UnsafeRawPointer, count: Int, permitsNullCharacter: Bool = true) {
        cursor = start
        end = start + count
        depthLeft = Self.depthLimit
        self.permitsNullCharacter = permitsNullCharacter
    }

    @inlinable package var remaining: Int { end - cursor }

    /// Returns the next field's tag (number << 3 | wire type), or `nil` at the end of the message.
    @inlinable
    @inline(__always)
    public mutating func nextTag() throws(DecodingError) -> UInt32? {
        if cursor == end { return nil }
        let byte = cursor.load(as: UInt8.self)
        if byte < 0x80, byte >= 8 {
            cursor += 1
            return UInt32(truncatingIfNeeded: byte)
        }
        return try longTag()
    }

    @usableFromInline
    mutating func longTag() throws(DecodingError) -> UInt32 {
        guard let tag = UInt32(exactly: try varint()), tag >= 8 else { throw .invalidTag }
        return tag
    }

    @inlinable
    @inline(__always)
    package mutating func varint() throws(DecodingError) -> UInt64 {
        if cursor != end {
            let byte = cursor.load(as: UInt8.self)
            if byte < 0x80 {
                cursor += 1
                return UInt64(truncatingIfNeeded: byte)
            }
        }
        return try longVarint()
    }

    @usableFromInline
    mutating func longVarint() throws(DecodingError) -> UInt64 {
        if remaining >= 8 {
            let word = UInt64(littleEndian: cursor.loadUnaligned(as: UInt64.self))
            let stops = ~word & 0x8080_8080_8080_8080
            if stops != 0 {
                // Keep the bytes up to the first without a continuation bit, then close the gaps between the groups of seven bits:
                // pairs, quads, halves.
                var groups = word & (stops ^ (stops &- 1)) & 0x7F7F_7F7F_7F7F_7F7F
                groups = (groups & 0x007F_007F_007F_007F) | ((groups & 0x7F00_7F00_7F00_7F00) >> 1)
                groups = (groups & 0x0000_3FFF_0000_3FFF) | ((groups & 0x3FFF_0000_3FFF_0000) >> 2)
                groups = (groups & 0x0000_0000_0FFF_FFFF) | ((groups & 0x0FFF_FFFF_0000_0000) >> 4)
                cursor += (stops.trailingZeroBitCount >> 3) + 1
                return groups
            }
        }
        return try bytewiseVarint()
    }

    private mutating func bytewiseVarint() throws(DecodingError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while cursor != end {
            let byte = cursor.load(as: UInt8.self)
            if shift == 63, byte > 1 { throw .malformedVarint }
            cursor += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        throw .truncated
    }

    /// Reads a length prefix and checks it against the remaining bytes.
    @inlinable
    @inline(__always)
    mutating func length() throws(DecodingError) -> Int {
        let length = try varint()
        guard length <= UInt64(truncatingIfNeeded: remaining) else { throw .truncated }
        return Int(truncatingIfNeeded: length)
    }

    @inlinable
    @inline(__always)
    package mutating func fixed<Bits: FixedWidthInteger>(_ type: Bits.Type) throws(DecodingError) -> Bits {
        guard remaining >= MemoryLayout<Bits>.size else { throw .truncated }
        let bits = cursor.loadUnaligned(as: Bits.self)
        cursor += MemoryLayout<Bits>.size
        return Bits(littleEndian: bits)
    }

    /// Returns the bytes of a length-delimited field; valid as long as the reader's buffer.
    @inlinable
    @inline(__always)
    package mutating func delimited() throws(DecodingError) -> UnsafeRawBufferPointer {
        let count = try length()
        let bytes = UnsafeRawBufferPointer(start: cursor, count: count)
        cursor += count
        return bytes
    }

    /// Narrows the reader to the nested message that comes next.
    ///
    /// - Returns: the argument for `leave`, which is called after the whole message was read.
    @inlinable
    mutating func enter() throws(DecodingError) -> UnsafeRawPointer {
        let count = try length()
        guard depthLeft > 0 else { throw .tooDeep }
        let outerEnd = end
        end = cursor + count
        depthLeft &-= 1
        return outerEnd
    }

    @inlinable
    mutating func leave(to outerEnd: UnsafeRawPointer) {
        depthLeft &+= 1
        end = outerEnd
    }

    @usableFromInline
    mutating func string() throws(DecodingError) -> String {
        let bytes = try delimited()
        if !permitsNullCharacter, bytes.hasNull { throw .nullCharacter }
        // Validated once here and copied without a second scan; `String(decoding:)` would validate again.
        let units = bytes.bindMemory(to: UInt8.self).span
        if bytes.isASCII { return String(copying: UTF8Span(unchecked: units, isKnownASCII: true)) }
        do {
            return String(copying: try UTF8Span(validating: units))
        } catch {
            throw .invalidUTF8
        }
    }

    /// Counts the consecutive length-delimited fields with the tag that was just read.
    ///
    /// The count lets the caller reserve space for all of them without trusting a number in the message: each field was seen.
    @usableFromInline
    func run(of tag: UInt32) -> Int {
        var probe = ProtobufReader(start: cursor, count: remaining)
        var count = 0
        do throws(DecodingError) {
            repeat {
                _ = try probe.delimited()
                count += 1
            } while try probe.nextTag() == tag
        } catch {
            return count
        }
        return count
    }

    /// Keeps a field that the message does not have, or that has an unexpected wire type.
    public mutating func readUnknown(_ tag: UInt32, into fields: inout UnknownFields) throws(DecodingError) {
        let start = cursor
        try skip(tag)
        fields.append(tag: tag, value: UnsafeRawBufferPointer(start: start, count: cursor - start))
    }

    /// Skips the value that follows `tag`.
    @usableFromInline
    package mutating func skip(_ tag: UInt32) throws(DecodingError) {
        switch tag & 7 {
        case WireType.varint: _ = try varint()
        case WireType.fixed64: _ = try fixed(UInt64.self)
        case WireType.delimited: _ = try delimited()
        case WireType.startGroup: try skipGroup(tag >> 3)
        case WireType.endGroup: throw .unbalancedGroup
        case WireType.fixed32: _ = try fixed(UInt32.self)
        default: throw .invalidTag
        }
    }

    private mutating func skipGroup(_ number: UInt32) throws(DecodingError) {
        guard depthLeft > 0 else { throw .tooDeep }
        depthLeft -= 1
        while let tag = try nextTag() {
            if tag & 7 == WireType.endGroup {
                guard tag >> 3 == number else { throw .unbalancedGroup }
                depthLeft += 1
                return
            }
            try skip(tag)
        }
        throw .truncated
    }
}

/// The wire types, which are the low three bits of a tag.
public enum WireType {
    public static let varint: UInt32 = 0
    public static let fixed64: UInt32 = 1
    public static let delimited: UInt32 = 2
    public static let startGroup: UInt32 = 3
    public static let endGroup: UInt32 = 4
    public static let fixed32: UInt32 = 5
}

extension UnsafeRawBufferPointer {
    fileprivate var hasNull: Bool {
        guard let start = baseAddress else { return false }
        return memchr(start, 0, count) != nil
    }

    /// Whether no byte has its highest bit set. Reads vectors of sixteen bytes, the last of which may overlap the one before.
    @inline(__always)
    fileprivate var isASCII: Bool {
        guard count >= 16 else { return allSatisfy { $0 < 0x80 } }
        let last = count &- 16
        var bits = loadUnaligned(fromByteOffset: last, as: SIMD2<UInt64>.self)
        var offset = 0
        while offset < last {
            bits |= loadUnaligned(fromByteOffset: offset, as: SIMD2<UInt64>.self)
            offset &+= 16
        }
        return (bits.x | bits.y) & 0x8080_8080_8080_8080 == 0
    }
}

/// The reason why bytes are not a protobuf message. Decoding throws no other error.
public enum DecodingError: Error, Sendable, Hashable {
    /// The bytes end inside a field, or a length exceeds the rest of the bytes.
    case truncated
    /// A varint of more than ten bytes, or of more than 64 bits.
    case malformedVarint
    /// A tag whose field number is 0 or above 2²⁹−1, or whose wire type (6, 7) does not exist.
    case invalidTag
    /// A packed field of fixed-width values whose length is not a multiple of that width.
    case invalidPackedLength
    /// A `string` that is not UTF-8.
    case invalidUTF8
    /// A `string` with the character U+0000, for a reader that does not permit it.
    case nullCharacter
    /// The end of a group that did not begin, or with another group's number.
    case unbalancedGroup
    /// Messages or groups nested more than `ProtobufReader.depthLimit` deep.
    case tooDeep
    /// A message of more than `ProtobufReader.sizeLimit` bytes.
    case tooLarge
}
