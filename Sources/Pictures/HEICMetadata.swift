import Basics

/// The boxes of a HEIC file (ISO/IEC 14496-12, section 4.2). Its metadata are items that the image's own items are mixed with, so
/// files with Exif or XMP are refused instead of changed.
enum HEICMetadata {
    /// The types of metadata items, and the beginning of XMP's content type.
    private static let refused = ["Exif", "application/rdf+xml"].map { Array($0.utf8) }
    /// The type and the length of the property that has the size of an image (ISO/IEC 23008-12, section 6.5.3).
    private static let extents = (type: Array("ispe".utf8), length: 20)

    static func checked(_ bytes: [UInt8]) throws(PictureError) -> [UInt8] {
        var (position, hasMetadataBox, hasData) = (0, false, false)
        while position < bytes.count {
            guard bytes.count - position >= 8 else { throw .malformed(.heic) }
            let length = Int(bigEndianBytes: bytes[position..<position + 4])
            guard length >= 8, length <= bytes.count - position else { throw .malformed(.heic) }
            let box = bytes[position..<position + length]
            switch String(decoding: box.dropFirst(4).prefix(4), as: UTF8.self) {
            case "meta":
                guard refused.allSatisfy({ positions(of: $0, in: box).isEmpty }) else { throw .metadata }
                try checkSizes(box)
                hasMetadataBox = true
            case "ftyp" where position == 0: break
            case "mdat": hasData = true
            case "free", "skip": break
            // Others, such as one of a vendor or a film, may have any metadata.
            default: throw .metadata
            }
            position = box.endIndex
        }
        guard hasMetadataBox, hasData else { throw .malformed(.heic) }
        return bytes
    }

    /// Checks the sizes of the image and of its tiles, of which there is one at least.
    private static func checkSizes(_ box: ArraySlice<UInt8>) throws(PictureError) {
        let found = positions(of: extents.type, in: box).filter {
            $0 - 4 >= box.startIndex && $0 - 4 + extents.length <= box.endIndex
                && Int(bigEndianBytes: box[$0 - 4..<$0]) == extents.length
        }
        guard !found.isEmpty else { throw .malformed(.heic) }
        for type in found {
            // The type and the version come before the sides.
            try Picture.checkSize(
                width: Int(bigEndianBytes: box[type + 8..<type + 12]),
                height: Int(bigEndianBytes: box[type + 12..<type + 16]))
        }
    }

    private static func positions(of text: [UInt8], in box: ArraySlice<UInt8>) -> [Int] {
        var (positions, position) = ([Int](), box.startIndex)
        while let found = box[position...].firstIndex(of: text[0]) {
            if box[found...].starts(with: text) { positions.append(found) }
            position = found + 1
        }
        return positions
    }
}
