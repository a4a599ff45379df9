/// The positions of objects in a segment, as offsets from its first position, ascending.
///
/// Stored are the gaps between them, each in one byte below 128 and else in two or three with seven bits each, lowest first, while
/// that takes fewer bytes than a bitmap; the length tells which of both it is.
enum SegmentPositions {
    /// The number of positions of a segment.
    static let span: Int64 = 32_768
    private static let bitmapBytes = Int(span / 8)

    /// - Parameter offsets: ascending, without repetitions.
    static func encode(_ offsets: [UInt16]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(min(offsets.count, bitmapBytes))
        var next = 0
        for offset in offsets {
            var gap = Int(offset) - next
            next = Int(offset) + 1
            while gap >= 0x80 {
                bytes.append(UInt8(gap & 0x7F | 0x80))
                gap >>= 7
            }
            bytes.append(UInt8(gap))
            if bytes.count >= bitmapBytes { return bitmap(of: offsets) }
        }
        return bytes
    }

    private static func bitmap(of offsets: [UInt16]) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: bitmapBytes)
        for offset in offsets { bytes[Int(offset >> 3)] |= 1 << (offset & 7) }
        return bytes
    }

    /// Returns the offsets; those beyond the segment, of damaged bytes, are left out.
    static func decode(_ bytes: [UInt8]) -> [UInt16] {
        guard bytes.count < bitmapBytes else { return decode(bitmap: bytes) }
        var offsets: [UInt16] = []
        offsets.reserveCapacity(bytes.count)
        var (next, gap, shift) = (0, 0, 0)
        for byte in bytes {
            gap |= Int(byte & 0x7F) << shift
            shift += 7
            guard byte < 0x80 || shift > 14 else { continue }
            let offset = next + gap
            guard offset < span else { break }
            offsets.append(UInt16(offset))
            (next, gap, shift) = (offset + 1, 0, 0)
        }
        return offsets
    }

    private static func decode(bitmap bytes: [UInt8]) -> [UInt16] {
        var offsets: [UInt16] = []
        offsets.reserveCapacity(bitmapBytes)
        for (index, byte) in bytes.prefix(bitmapBytes).enumerated() where byte != 0 {
            var rest = byte
            while rest != 0 {
                offsets.append(UInt16(index * 8 + rest.trailingZeroBitCount))
                rest &= rest - 1
            }
        }
        return offsets
    }

    /// Returns those of the ascending offsets that the stored ones contain.
    static func intersection(_ offsets: [UInt16], _ bytes: [UInt8]) -> [UInt16] {
        if bytes.count >= bitmapBytes { return offsets.filter { bytes[Int($0 >> 3)] & 1 << ($0 & 7) != 0 } }
        let others = decode(bytes)
        var (common, index): ([UInt16], Int) = ([], 0)
        for offset in offsets {
            while index < others.count, others[index] < offset { index += 1 }
            if index < others.count, others[index] == offset { common.append(offset) }
        }
        return common
    }

    /// Returns the union of ascending offsets.
    static func union(_ left: [UInt16], _ right: [UInt16]) -> [UInt16] {
        guard let first = right.first, let last = left.last, first <= last else { return left + right }
        var (result, index): ([UInt16], Int) = ([], 0)
        result.reserveCapacity(left.count + right.count)
        for offset in left {
            while index < right.count, right[index] < offset {
                result.append(right[index])
                index += 1
            }
            if index < right.count, right[index] == offset { index += 1 }
            result.append(offset)
        }
        return result + right[index...]
    }
}
