import Basics

/// The orientation of a picture in its Exif data (CIPA DC-008, section 4.6.4): 1 to 8, of which 1 needs no change.
enum ExifOrientation {
    /// The beginning of the segment in JPEG files.
    static let name = Array("Exif\0\0".utf8)
    private static let tag = 0x0112
    private static let mostEntries = 200
    /// The number of bytes of a value by its type (TIFF 6.0, section 2): BYTE, SHORT and LONG.
    private static let lengths = [1: 1, 3: 2, 4: 4]

    /// Returns the orientation; `nil` if Exif data have none.
    ///
    /// - Parameter exif: the data. Some writers put the beginning of the JPEG segment before them in files of other formats.
    static func value(in exif: ArraySlice<UInt8>) -> UInt8? {
        let tiff = Array(exif.starts(with: name) ? exif.dropFirst(name.count) : exif)
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
            // One number of two bytes; some writers use another length.
            guard let type = number(entry + 2, 2), let length = lengths[type], number(entry + 4, 4) == 1,
                let value = number(entry + 8, length), (1...8).contains(value)
            else { return nil }
            return UInt8(value)
        }
        return nil
    }

    /// Returns Exif data that have an orientation and nothing else.
    static func data(_ value: UInt8) -> [UInt8] {
        Array("MM\0*".utf8) + [0, 0, 0, 8] + [0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, value, 0, 0, 0, 0, 0, 0]
    }
}
