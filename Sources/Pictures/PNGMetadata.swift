import Basics

/// The chunks of a PNG file (PNG specification, third edition, section 5), of which only those are kept that define the image.
enum PNGMetadata {
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    private static let kept: Set<String> = [
        "IHDR", "PLTE", "IDAT", "IEND", "tRNS", "cHRM", "gAMA", "iCCP", "sBIT", "sRGB", "cICP", "bKGD", "pHYs", "acTL",
        "fcTL", "fdAT",
    ]

    static func removed(from bytes: [UInt8]) throws(PictureError) -> [UInt8] {
        var (output, position, hasData) = (signature, signature.count, false)
        for _ in 0..<Picture.mostParts {
            guard bytes.count - position >= 12 else { throw .malformed(.png) }
            let length = Int(bigEndianBytes: bytes[position..<position + 4])
            guard length <= bytes.count - position - 12 else { throw .malformed(.png) }
            let chunk = bytes[position..<position + 12 + length]
            let type = String(decoding: chunk.dropFirst(4).prefix(4), as: UTF8.self)
            if position == signature.count {
                guard type == "IHDR", length == 13 else { throw .malformed(.png) }
                let sides = Array(chunk.dropFirst(8).prefix(8))
                try Picture.checkSize(
                    width: Int(bigEndianBytes: sides[..<4]),
                    height: Int(bigEndianBytes: sides[4...]))
            }
            if kept.contains(type) { output += chunk }
            hasData = hasData || type == "IDAT"
            if type == "IEND" {
                guard hasData else { throw .malformed(.png) }
                return output
            }
            position = chunk.endIndex
        }
        throw .malformed(.png)
    }
}
