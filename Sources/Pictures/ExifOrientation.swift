import Basics

/// The orientation of a picture in an Exif segment (CIPA DC-008, section 4.6.4): 1 to 8, of which 1 needs no change.
enum ExifOrientation {
    private static let name = Array("Exif\0\0".utf8)
    private static let tag = 0x0112
    private static let mostEntries = 200

    /// Returns the orientation; `nil` if a segment has none.
    ///
    /// - Parameter segment: the contents, without marker and length.
    static func value(in segment: ArraySlice<UInt8>) -> UInt8? {
        guard segment.starts(with: name) else { return nil }
        let tiff = Array(segment.dropFirst(name.count))
        guard tiff.count >= 8 else { return nil }
        let isLittle = tiff.starts(with: Array("II*\0".utf8))
        guard isLittle || tiff.starts(with: Array("MM\0*".utf8)) else { return nil }
        func number(_ offset: Int, _ count: Int) -> Int? {
            guard offset >= 0, offset <= tiff.count - count else { return nil }
            let bytes = tiff[offset..<offset + count]
            return isLittle ? Int(bigEndianBytes: bytes.reversed()) : Int(bigEndianBytes: bytes)
        }
        guard let directory = number(4, 4), let entries = number(directory, 2) else { return nil }
        for index in 0..<min(entries, mostEntries) {
            let entry = directory + 2 + index * 12
            guard number(entry, 2) == tag else { continue }
            // One number of two bytes.
            guard number(entry + 2, 2) == 3, number(entry + 4, 4) == 1, let value = number(entry + 8, 2),
                (1...8).contains(value)
            else { return nil }
            return UInt8(value)
        }
        return nil
    }

    /// Returns a segment, with marker and length, that has an orientation and nothing else.
    static func segment(_ value: UInt8) -> [UInt8] {
        let directory: [UInt8] = [0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, value, 0, 0, 0, 0, 0, 0]
        let content = name + Array("MM\0*".utf8) + [0, 0, 0, 8] + directory
        return [0xFF, 0xE1, 0, UInt8(content.count + 2)] + content
    }
}
