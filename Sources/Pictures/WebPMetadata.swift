import Basics

/// The chunks of a WebP file (RFC 9649, section 2), of which only those are kept that define the image. The orientation is written as
/// a chunk `EXIF` of its own.
enum WebPMetadata {
    private static let kept: Set<String> = ["VP8 ", "VP8L", "VP8X", "ALPH", "ANIM", "ANMF", "ICCP"]
    /// The bits of the extended header that announce Exif and XMP.
    private static let metadataBits: UInt8 = 0b0000_1100
    private static let exifBit: UInt8 = 0b0000_1000

    static func removed(from bytes: [UInt8]) throws(PictureError) -> [UInt8] {
        guard bytes.count >= 12 else { throw .malformed(.webp) }
        let end = 8 + number(bytes[4..<8])
        guard end <= bytes.count, end >= 12 else { throw .malformed(.webp) }
        var (chunks, position, hasImage, count) = ([UInt8](), 12, false, 0)
        // The place of the extended header's bits within the chunks.
        var (bits, orientation) = (Int?.none, UInt8(1))
        while position < end {
            count += 1
            guard end - position >= 8, count <= Picture.mostParts else { throw .malformed(.webp) }
            let type = String(decoding: bytes[position..<position + 4], as: UTF8.self)
            let length = number(bytes[position + 4..<position + 8])
            // A chunk of odd length is followed by a byte that belongs to none.
            guard length <= end - position - 8, case let next = position + 8 + length + length % 2, next <= end else {
                throw .malformed(.webp)
            }
            var chunk = Array(bytes[position..<next])
            try check(type, Array(chunk.dropFirst(8).prefix(10)))
            if type == "VP8X" {
                chunk[8] &= ~metadataBits
                bits = bits ?? chunks.count + 8
            }
            if type == "EXIF" {
                orientation = ExifOrientation.value(in: chunk[8..<8 + length]) ?? orientation
            }
            if kept.contains(type) { chunks += chunk }
            hasImage = hasImage || ["VP8 ", "VP8L", "ANMF"].contains(type)
            position = next
        }
        guard hasImage else { throw .malformed(.webp) }
        // Without an extended header, readers ignore Exif data (section 2.7).
        if orientation != 1, let bits {
            chunks[bits] |= exifBit
            chunks += exif(orientation)
        }
        return Array("RIFF".utf8) + size(chunks.count + 4) + Array("WEBP".utf8) + chunks
    }

    /// Returns a chunk with an orientation and nothing else.
    static func exif(_ orientation: UInt8) -> [UInt8] {
        let data = ExifOrientation.data(orientation)
        return Array("EXIF".utf8) + size(data.count) + data
    }

    private static func size(_ count: Int) -> [UInt8] { UInt32(count).bigEndianBytes.reversed() }

    private static func check(_ type: String, _ head: [UInt8]) throws(PictureError) {
        switch type {
        case "VP8X":
            guard head.count == 10 else { throw .malformed(.webp) }
            try Picture.checkSize(width: number(head[4..<7]) + 1, height: number(head[7..<10]) + 1)
        case "VP8 ":
            guard head.count == 10 else { throw .malformed(.webp) }
            try Picture.checkSize(width: number(head[6..<8]) & 0x3FFF, height: number(head[8..<10]) & 0x3FFF)
        case "VP8L":
            guard head.count >= 5 else { throw .malformed(.webp) }
            let sides = number(head[1..<5])
            try Picture.checkSize(width: sides & 0x3FFF + 1, height: sides >> 14 & 0x3FFF + 1)
        default: break
        }
    }

    /// Returns a number of little-endian bytes, at most four.
    private static func number(_ bytes: ArraySlice<UInt8>) -> Int { Int(bigEndianBytes: bytes.reversed()) }
}
