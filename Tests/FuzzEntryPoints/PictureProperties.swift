import FileTesting
import Pictures

/// Properties of the removal of metadata from pictures.
enum PictureProperties {
    /// A picture of each format, with metadata where they are removed.
    static let seeds: [[UInt8]] = [jpeg, png, webp, heic, longHEIC]

    /// Checks that bytes are refused, or that a picture without metadata is no larger than they are and an orientation, keeps its
    /// format, and has nothing more that could be removed.
    static func check(_ input: [UInt8]) {
        guard let picture = try? Picture(input) else { return }
        // The segment with the orientation may replace one that is shorter, as some cameras write it.
        precondition(picture.bytes.count <= input.count + 36, "the picture grew")
        precondition(PictureFormat(input) == picture.format, "the picture has another format")
        guard let again = try? Picture(picture.bytes) else { fatalError("a picture without metadata is refused") }
        precondition(again == picture, "the picture still had metadata")
    }

    /// Exif data with an orientation of four bytes.
    private static let exif: [UInt8] =
        Array("II*\0".utf8) + [8, 0, 0, 0, 1, 0, 0x12, 1, 4, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0]

    private static let jpeg: [UInt8] =
        [0xFF, 0xD8, 0xFF, 0xE1, 0, 36] + Array("Exif\0\0".utf8) + exif + [1, 2] + [0xFF, 0xFE, 0, 4, 1, 2] + [
            0xFF, 0xE0, 0, 7,
        ] + Array("JFIF\0".utf8)
        + [0xFF, 0xC0, 0, 11, 8, 0, 2, 0, 2, 1, 1, 0x11, 0] + [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0]
        + [1, 0xFF, 0, 2, 0xFF, 0xD0, 3] + [0xFF, 0xD9, 7]

    private static let png: [UInt8] =
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        + chunk("IHDR", [0, 0, 0, 2, 0, 0, 0, 2, 8, 0, 0, 0, 0]) + chunk("tEXt", [1, 0, 2]) + chunk("eXIf", exif)
        + chunk("IDAT", [1, 2, 3])
        + chunk("IEND", []) + [7]

    private static let webp: [UInt8] = {
        let chunks: [UInt8] =
            Array("VP8X".utf8) + [10, 0, 0, 0, 12, 0, 0, 0, 1, 0, 0, 1, 0, 0] + Array("VP8L".utf8)
            + [5, 0, 0, 0, 0x2F, 1, 0x40, 0, 0, 0] + Array("EXIF".utf8) + [26, 0, 0, 0] + exif
        return Array("RIFF".utf8) + [UInt8(chunks.count + 4), 0, 0, 0] + Array("WEBP".utf8) + chunks + [7]
    }()

    private static let heic: [UInt8] = HEICFile([
        HEICFile.Item(id: 2, type: "Exif", data: [1, 2], pieces: 2), HEICFile.image,
        HEICFile.Item(id: 3, type: "grid", data: [0, 0, 0, 0, 0, 2, 0, 2], origin: 1),
    ]).bytes

    /// A file with the other lengths of boxes, and an unknown box.
    private static let longHEIC: [UInt8] = {
        var file = HEICFile()
        file.version = 2
        (file.length, file.dataLength) = (.long, .rest)
        file.boxes = [HEICFile.box("uuid", HEICFile.place)]
        return file.bytes
    }()

    private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        [0, 0, 0, UInt8(data.count)] + Array(type.utf8) + data + [0, 0, 0, 0]
    }
}
