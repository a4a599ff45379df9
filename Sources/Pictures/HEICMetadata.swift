/// The boxes of a HEIC file (ISO/IEC 14496-12, section 4.2). Its metadata are items that the image's own items are mixed with, so
/// files with Exif or XMP are refused instead of changed.
enum HEICMetadata {
    /// The types of metadata items, and the beginning of XMP's content type.
    private static let refused = ["Exif", "application/rdf+xml"].map { Array($0.utf8) }

    static func checked(_ bytes: [UInt8]) throws(PictureError) -> [UInt8] {
        var (position, hasMetadataBox, hasData) = (0, false, false)
        while position < bytes.count {
            guard bytes.count - position >= 8 else { throw .malformed(.heic) }
            let length = bytes[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
            guard length >= 8, length <= bytes.count - position else { throw .malformed(.heic) }
            let box = bytes[position..<position + length]
            switch String(decoding: box.dropFirst(4).prefix(4), as: UTF8.self) {
            case "meta":
                guard !refused.contains(where: { contains($0, box) }) else { throw .metadata }
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

    private static func contains(_ text: [UInt8], _ box: ArraySlice<UInt8>) -> Bool {
        var position = box.startIndex
        while let found = box[position...].firstIndex(of: text[0]) {
            if box[found...].starts(with: text) { return true }
            position = found + 1
        }
        return false
    }
}
