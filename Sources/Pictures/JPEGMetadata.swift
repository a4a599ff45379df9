import Basics

/// The segments of a JPEG file (ITU-T T.81, annex B), of which only those are kept that a decoder needs.
///
/// Removed are comments and the application segments: Exif with the place and the time, XMP, thumbnails of the original picture (JFIF's
/// as well), and further pictures behind the first one. JFIF's density, colour profiles and Adobe's colour transformation stay, and the orientation is
/// written as an Exif segment of its own, since pictures of phones would lie on their side without it.
enum JPEGMetadata {
    private static let start: [UInt8] = [0xFF, 0xD8]
    private static let end: [UInt8] = [0xFF, 0xD9]
    /// The length of JFIF's segment up to its thumbnail, with the segment's own length and without the thumbnail's size (JFIF 1.02).
    private static let densityEnd = 14
    /// The names at the beginning of application segments that are kept, by marker.
    private static let kept: [UInt8: String] = [0xE0: "JFIF\0", 0xE2: "ICC_PROFILE\0", 0xEE: "Adobe"]

    static func removed(from bytes: [UInt8]) throws(PictureError) -> [UInt8] {
        var (output, orientation) = (start, UInt8(1))
        var body: [UInt8] = []
        var (position, hasFrame, hasScan) = (2, false, false)
        for _ in 0..<Picture.mostParts {
            let marker = try marker(bytes, &position)
            if marker == 0xD9 {
                guard hasFrame, hasScan else { throw .malformed(.jpeg) }
                if orientation != 1 { output += exif(orientation) }
                return output + body + end
            }
            let segment = try segment(bytes, position)
            position = segment.endIndex
            switch marker {
            case 0xE1 where segment.dropFirst(2).starts(with: ExifOrientation.name):
                orientation = ExifOrientation.value(in: segment.dropFirst(2)) ?? orientation
            case 0xE0...0xEF:
                guard let name = kept[marker], segment.dropFirst(2).starts(with: name.utf8) else { continue }
                body += [0xFF, marker] + (marker == 0xE0 ? try withoutThumbnail(segment) : segment)
            case 0xFE: continue
            default:
                if isFrame(marker) {
                    try checkFrame(segment)
                    hasFrame = true
                }
                body += [0xFF, marker] + segment
                guard marker == 0xDA else { continue }
                hasScan = true
                let scan = scan(bytes, from: position)
                body += scan
                position = scan.endIndex
            }
        }
        throw .malformed(.jpeg)
    }

    /// Reads a marker, which any number of 0xFF may precede (section B.1.1.2).
    private static func marker(_ bytes: [UInt8], _ position: inout Int) throws(PictureError) -> UInt8 {
        guard position < bytes.count, bytes[position] == 0xFF else { throw .malformed(.jpeg) }
        while position < bytes.count, bytes[position] == 0xFF { position += 1 }
        // Neither a stuffed zero nor a marker without a segment, except the end, can be between segments.
        guard position < bytes.count, case let marker = bytes[position], marker >= 0xC0, !(0xD0...0xD8).contains(marker)
        else { throw .malformed(.jpeg) }
        position += 1
        return marker
    }

    /// Returns a segment with its length, which counts itself.
    private static func segment(_ bytes: [UInt8], _ position: Int) throws(PictureError) -> ArraySlice<UInt8> {
        guard bytes.count - position >= 2 else { throw .malformed(.jpeg) }
        let length = Int(bigEndianBytes: bytes[position..<position + 2])
        guard length >= 2, length <= bytes.count - position else { throw .malformed(.jpeg) }
        return bytes[position..<position + length]
    }

    /// Returns an Exif segment with an orientation and nothing else.
    static func exif(_ orientation: UInt8) -> [UInt8] {
        let content = ExifOrientation.name + ExifOrientation.data(orientation)
        return [0xFF, 0xE1, 0, UInt8(content.count + 2)] + content
    }

    /// Returns JFIF's segment with a thumbnail of no size, as cameras and editors write it.
    private static func withoutThumbnail(_ segment: ArraySlice<UInt8>) throws(PictureError) -> ArraySlice<UInt8> {
        guard segment.count >= densityEnd + 2 else { throw .malformed(.jpeg) }
        return [0, UInt8(densityEnd + 2)] + segment.prefix(densityEnd).dropFirst(2) + [0, 0]
    }

    /// Whether a marker begins a frame: SOF0 to SOF15, without DHT, JPG and DAC.
    private static func isFrame(_ marker: UInt8) -> Bool {
        (0xC0...0xCF).contains(marker) && ![0xC4, 0xC8, 0xCC].contains(marker)
    }

    private static func checkFrame(_ segment: ArraySlice<UInt8>) throws(PictureError) {
        let fields = Array(segment.prefix(7))
        guard fields.count == 7 else { throw .malformed(.jpeg) }
        try Picture.checkSize(
            width: Int(bigEndianBytes: fields[5..<7]), height: Int(bigEndianBytes: fields[3..<5]))
    }

    /// Returns the compressed data up to the next marker that is neither a stuffed zero nor a restart.
    private static func scan(_ bytes: [UInt8], from start: Int) -> ArraySlice<UInt8> {
        var position = start
        while position + 1 < bytes.count {
            let isMarker = bytes[position] == 0xFF && bytes[position + 1] != 0 && bytes[position + 1] != 0xFF
            if isMarker, !(0xD0...0xD7).contains(bytes[position + 1]) { break }
            position += 1
        }
        return bytes[start..<position]
    }
}
