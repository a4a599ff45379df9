import TestSupport
import Testing

@testable import Pictures

@Suite(.timeLimited) struct PictureTests {
    private static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
        [0xFF, marker, UInt8((content.count + 2) >> 8), UInt8((content.count + 2) & 0xFF)] + content
    }

    private static func jpeg(_ more: [UInt8] = [], width: UInt8 = 2) -> [UInt8] {
        [0xFF, 0xD8] + more + segment(0xC0, [8, 0, 2, width, 2, 1, 1, 0x11, 0]) + segment(0xDA, [1, 1, 0, 0, 63, 0])
            + [0x12, 0xFF, 0, 0x34, 0xFF, 0xD3, 0x56, 0xFF, 0xD9]
    }

    /// Exif data of one byte order, with an orientation and a place.
    ///
    /// - Parameter type: that of the orientation: 1, 3 or 4 for a number of one, two or four bytes.
    private static func exif(_ orientation: UInt8, isLittle: Bool, type: UInt8 = 3) -> [UInt8] {
        let value: [UInt8]
        switch (type, isLittle) {
        case (4, false): value = [0, 0, 0, orientation]
        case (3, false): value = [0, orientation, 0, 0]
        default: value = [orientation, 0, 0, 0]
        }
        let tiff: [UInt8] =
            isLittle
            ? Array("II*\0".utf8) + [8, 0, 0, 0, 1, 0, 0x12, 1, type, 0, 1, 0, 0, 0]
            : Array("MM\0*".utf8) + [0, 0, 0, 8, 0, 1, 1, 0x12, 0, type, 0, 0, 0, 1]
        return tiff + value + Array("48.137N".utf8)
    }

    private static let exifName = Array("Exif\0\0".utf8)

    @Test(arguments: [true, false], [UInt8](1...8))
    func orientationStaysAndThePlaceGoes(isLittle: Bool, orientation: UInt8) throws {
        for type in [1, 3, 4] as [UInt8] {
            let exif = Self.exif(orientation, isLittle: isLittle, type: type)
            let hasOrientation = orientation != 1
            let jpeg = try Picture(Self.jpeg(Self.segment(0xE1, Self.exifName + exif)))
            #expect(jpeg.bytes == Self.jpeg(hasOrientation ? JPEGMetadata.exif(orientation) : []))
            // Some writers put the beginning of the segment into files of other formats.
            for data in [exif, Self.exifName + exif] {
                let png = try Picture(Self.png(0, Self.chunk("gAMA", [1]) + Self.chunk("eXIf", data)))
                #expect(
                    png.bytes
                        == Self.png(0, (hasOrientation ? PNGMetadata.exif(orientation) : []) + Self.chunk("gAMA", [1])))
                let webp = try Picture(Self.webp(0b1100, Self.webpChunk("EXIF", data)))
                #expect(
                    webp.bytes == (hasOrientation ? Self.webp(0b1000, WebPMetadata.exif(orientation)) : Self.webp()))
            }
            #expect(ExifOrientation.value(in: exif[...]) == orientation)
            #expect(ExifOrientation.value(in: ExifOrientation.data(orientation)[...]) == orientation)
        }
    }

    @Test func orientationBehindTheImageDataIsFound() throws {
        let exif = Self.chunk("eXIf", Self.exif(6, isLittle: true))
        let picture = try Picture(Self.png(0, Self.chunk("IDAT", [7]) + exif))
        #expect(picture.bytes == Self.png(0, PNGMetadata.exif(6) + Self.chunk("IDAT", [7])))
    }

    @Test func checksumOfTheChunkWithTheOrientationIsRight() {
        // Computed by zlib.
        #expect(PNGMetadata.exif(6).suffix(4).elementsEqual([0xD6, 0x67, 0x4B, 0x69]))
    }

    @Test func numbersThatAreNoOrientationAreDropped() throws {
        for (orientation, type) in [(0, 3), (9, 3), (9, 4), (6, 2), (6, 12)] as [(UInt8, UInt8)] {
            let exif = Self.exif(orientation, isLittle: true, type: type)
            #expect(try Picture(Self.png(0, Self.chunk("eXIf", exif))).bytes == Self.png())
            #expect(try Picture(Self.webp(0b1000, Self.webpChunk("EXIF", exif))).bytes == Self.webp())
        }
    }

    /// The simple form of a file has no place for an orientation.
    @Test func webPWithoutAnExtendedHeaderHasNoOrientation() throws {
        let chunk = Self.webpChunk("VP8L", [0x2F, 1, 0x40, 0, 0, 0])
        let picture = try Picture(Self.riff(chunk + Self.webpChunk("EXIF", Self.exif(6, isLittle: true))))
        #expect(picture.bytes == Self.riff(chunk))
    }

    @Test func segmentsWithoutUseAreRemovedFromJPEG() throws {
        let removed: [[UInt8]] = [
            Self.segment(0xFE, Array("<script>".utf8)),
            Self.segment(0xE1, Array("http://ns.adobe.com/xap/1.0/\0".utf8)),
            Self.segment(0xE2, Array("MPF\0".utf8)), Self.segment(0xED, Array("Photoshop 3.0\0".utf8)),
        ]
        let kept: [[UInt8]] = [
            Self.segment(0xE0, Array("JFIF\0".utf8) + [1, 1, 0, 0, 1, 0, 1, 0, 0]),
            Self.segment(0xE2, Array("ICC_PROFILE\0".utf8) + [1, 1, 9]), Self.segment(0xEE, Array("Adobe".utf8) + [0]),
        ]
        let picture = try Picture(Self.jpeg(Array((removed + kept).joined())) + Array("PK\u{3}\u{4}".utf8))
        #expect(picture.bytes == Self.jpeg(Array(kept.joined())))
    }

    /// The thumbnail is of the picture before it was cropped.
    @Test func thumbnailOfJFIFIsRemoved() throws {
        let density = Array("JFIF\0".utf8) + [1, 1, 1, 0, 72, 0, 72]
        let picture = try Picture(Self.jpeg(Self.segment(0xE0, density + [1, 2] + [10, 20, 30, 40, 50, 60])))
        #expect(picture.bytes == Self.jpeg(Self.segment(0xE0, density + [0, 0])))
        #expect(throws: PictureError.self) { try Picture(Self.jpeg(Self.segment(0xE0, Array("JFIF\0".utf8)))) }
    }

    @Test func pictureThatIsCutAnywhereIsRefused() throws {
        let whole: [(bytes: [UInt8], format: PictureFormat)] = [
            (Self.jpeg(Self.segment(0xE1, Self.exifName + Self.exif(6, isLittle: true))), .jpeg), (Self.png(), .png),
            (Self.webp(), .webp),
        ]
        for (bytes, format) in whole {
            #expect(try Picture(bytes).format == format)
            for count in bytes.indices {
                #expect(throws: PictureError.self) { try Picture(Array(bytes.prefix(count))) }
            }
        }
    }

    private static func png(_ width: UInt8 = 0, _ more: [UInt8] = []) -> [UInt8] {
        PNGMetadata.signature + chunk("IHDR", [width, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0]) + more + chunk("IDAT", [7])
            + chunk("IEND", [])
    }

    private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        [0, 0, 0, UInt8(data.count)] + Array(type.utf8) + data + [1, 2, 3, 4]
    }

    @Test func textAndPlaceAreRemovedFromPNG() throws {
        let metadata = ["tEXt", "zTXt", "iTXt", "eXIf", "tIME", "prVW"].flatMap { Self.chunk($0, [1]) }
        let kept = ["gAMA", "sRGB", "tRNS"].flatMap { Self.chunk($0, [1]) }
        #expect(try Picture(Self.png(0, metadata + kept) + [9, 9]).bytes == Self.png(0, kept))
    }

    private static func webp(_ bits: UInt8 = 0, _ more: [UInt8] = []) -> [UInt8] {
        riff(
            Array("VP8X".utf8) + [10, 0, 0, 0, bits, 0, 0, 0, 1, 0, 0, 1, 0, 0] + Array("VP8L".utf8)
                + [5, 0, 0, 0, 0x2F, 1, 0x40, 0, 0, 0] + more)
    }

    private static func riff(_ chunks: [UInt8]) -> [UInt8] {
        Array("RIFF".utf8) + [UInt8(chunks.count + 4), 0, 0, 0] + Array("WEBP".utf8) + chunks
    }

    private static func webpChunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        Array(type.utf8) + [UInt8(data.count), 0, 0, 0] + data + [UInt8](repeating: 0, count: data.count % 2)
    }

    @Test func exifAndXMPAreRemovedFromWebP() throws {
        let metadata = Array("EXIF".utf8) + [3, 0, 0, 0, 1, 2, 3, 0] + Array("XMP ".utf8) + [2, 0, 0, 0, 1, 2]
        #expect(try Picture(Self.webp(0b1100, metadata) + [9]).bytes == Self.webp())
    }

    @Test func pictureWithTooManyPixelsIsRefused() throws {
        #expect(throws: PictureError.size) { try Picture(Self.png(5)) }
        #expect(try Picture(Self.jpeg(width: 0xFF)).format == .jpeg)
        let large: [UInt8] =
            [0xFF, 0xD8] + Self.segment(0xC2, [8, 0xFF, 0xFF, 0xFF, 0xFF, 1, 1, 0x11, 0])
            + Self.segment(0xDA, [1, 1, 0, 0, 63, 0]) + [0xFF, 0xD9]
        #expect(throws: PictureError.size) { try Picture(large) }
    }

    @Test func pictureOfTooManyPartsIsRefused() {
        let parts = Picture.mostParts
        let pictures = [
            Self.jpeg(Array([[UInt8]](repeating: Self.segment(0xFE, []), count: parts).joined())),
            Self.png(0, Array([[UInt8]](repeating: Self.chunk("tEXt", []), count: parts).joined())),
        ]
        for bytes in pictures { #expect(throws: PictureError.self) { try Picture(bytes) } }
    }

    @Test func otherFormatsAreRefused() {
        for text in [
            "", "<svg/>", "<?xml?><svg/>", "GIF89a", "%PDF-1.7", "BM", "RIFF1234WAVE", "\u{0}\u{0}\u{0}\u{18}ftypmp42",
        ] {
            #expect(throws: PictureError.format) { try Picture(Array(text.utf8)) }
        }
    }
}
