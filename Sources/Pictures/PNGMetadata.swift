import Basics
import Checksums

/// The chunks of a PNG file (PNG specification, third edition, section 5), of which only those are kept that define the image. The
/// orientation is written as a chunk `eXIf` of its own.
enum PNGMetadata {
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    private static let kept: Set<String> = [
        "IHDR", "PLTE", "IDAT", "IEND", "tRNS", "cHRM", "gAMA", "iCCP", "sBIT", "sRGB", "cICP", "bKGD", "pHYs", "acTL",
        "fcTL", "fdAT",
    ]
    /// The length of a file up to the end of its first chunk, IHDR.
    private static let headerEnd = signature.count + 12 + 13

    static func removed(from bytes: [UInt8]) throws(PictureError) -> [UInt8] {
        var (output, position, hasData, orientation) = (signature, signature.count, false, UInt8(1))
        for _ in 0..<Picture.mostParts {
            guard bytes.count - position >= 12 else { throw .malformed(.png) }
            let length = Int(bigEndianBytes: bytes[position..<position + 4])
            guard length <= bytes.count - position - 12 else { throw .malformed(.png) }
            let chunk = bytes[position..<position + 12 + length]
            let type = String(decoding: chunk.dropFirst(4).prefix(4), as: UTF8.self)
            if position == signature.count { try checkHeader(type, chunk.dropFirst(8).dropLast(4)) }
            if kept.contains(type) { output += chunk }
            hasData = hasData || type == "IDAT"
            if type == "eXIf" {
                orientation = ExifOrientation.value(in: chunk.dropFirst(8).dropLast(4)) ?? orientation
            }
            if type == "IEND" {
                guard hasData else { throw .malformed(.png) }
                if orientation != 1 { output.insert(contentsOf: exif(orientation), at: headerEnd) }
                return output
            }
            position = chunk.endIndex
        }
        throw .malformed(.png)
    }

    private static func checkHeader(_ type: String, _ data: ArraySlice<UInt8>) throws(PictureError) {
        guard type == "IHDR", data.count == 13 else { throw .malformed(.png) }
        let sides = Array(data.prefix(8))
        try Picture.checkSize(
            width: Int(bigEndianBytes: sides[..<4]),
            height: Int(bigEndianBytes: sides[4...]))
    }

    /// Returns a chunk with an orientation and nothing else.
    static func exif(_ orientation: UInt8) -> [UInt8] {
        let data = ExifOrientation.data(orientation)
        let checked = Array("eXIf".utf8) + data
        var checksum = CRC32()
        checked.withUnsafeBytes { checksum.update($0) }
        return UInt32(data.count).bigEndianBytes + checked + checksum.value.bigEndianBytes
    }
}
