import Basics

/// The place of a box in a HEIC file (ISO/IEC 14496-12, section 4.2).
struct HEICBox {
    let type: String
    let start: Int
    /// The place of the content, which follows the type and the length.
    let content: Range<Int>

    /// Returns the boxes of a file.
    static func list(in file: [UInt8]) throws(PictureError) -> [HEICBox] {
        try list(in: file, file.indices, isFile: true)
    }

    /// Returns the boxes within another.
    static func list(in file: [UInt8], _ range: Range<Int>) throws(PictureError) -> [HEICBox] {
        try list(in: file, range, isFile: false)
    }

    /// - Parameter isFile: whether the last box may have the length 0, which is the rest of the file.
    private static func list(
        in file: [UInt8], _ range: Range<Int>, isFile: Bool
    ) throws(PictureError) -> [HEICBox] {
        var (boxes, position) = ([HEICBox](), range.lowerBound)
        while position < range.upperBound {
            var fields = HEICFields(file, position..<range.upperBound)
            var length = try fields.number(4)
            let type = try fields.text(4)
            if length == 1 { length = try fields.number(8) }
            if length == 0, isFile { length = range.upperBound - position }
            guard length >= fields.position - position, length <= range.upperBound - position,
                boxes.count < Picture.mostParts
            else { throw .malformed(.heic) }
            boxes.append(HEICBox(type: type, start: position, content: fields.position..<position + length))
            position += length
        }
        return boxes
    }
}

/// The fields of a box, in their order: big-endian numbers and texts.
struct HEICFields {
    private let file: [UInt8]
    private let end: Int
    private(set) var position: Int

    init(_ file: [UInt8], _ range: Range<Int>) {
        self.file = file
        (position, end) = (range.lowerBound, range.upperBound)
    }

    /// The place of what was not read yet.
    var rest: Range<Int> { position..<end }

    mutating func number(_ bytes: Int) throws(PictureError) -> Int {
        let number = Int(bigEndianBytes: try take(bytes))
        // A length or an offset of a file has at most 63 bits.
        guard number >= 0 else { throw .malformed(.heic) }
        return number
    }

    mutating func text(_ bytes: Int) throws(PictureError) -> String {
        String(decoding: try take(bytes), as: UTF8.self)
    }

    /// The version of a box, which flags of three bytes follow.
    mutating func version() throws(PictureError) -> Int {
        let version = try number(1)
        _ = try take(3)
        return version
    }

    private mutating func take(_ count: Int) throws(PictureError) -> ArraySlice<UInt8> {
        guard count <= end - position else { throw .malformed(.heic) }
        defer { position += count }
        return file[position..<position + count]
    }
}
