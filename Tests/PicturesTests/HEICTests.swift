import FileTesting
import TestSupport
import Testing

@testable import Pictures

@Suite(.timeLimited) struct HEICTests {
    private static let metadata = [
        HEICFile.Item(id: 2, type: "Exif", data: [0, 0, 0, 6] + Array("Exif\0\0MM\0*".utf8) + HEICFile.place),
        HEICFile.Item(
            id: 3, type: "mime", data: Array("<x:xmpmeta>".utf8) + HEICFile.place,
            description: [0] + Array("application/rdf+xml\0".utf8)),
        HEICFile.Item(id: 4, type: "uri ", data: HEICFile.place, description: Array("\0https://48.137N\0".utf8)),
    ]

    /// Returns a file with one image.
    private static func file(_ change: (inout HEICFile) -> Void) -> [UInt8] {
        var file = HEICFile()
        change(&file)
        return file.bytes
    }

    private func isInside(_ text: String, _ bytes: [UInt8]) -> Bool { bytes.firstRange(of: Array(text.utf8)) != nil }

    @Test(arguments: [0, 1, 2] as [UInt8]) func metadataOfAPhoneAreRemovedAndTheImageStays(version: UInt8) throws {
        let tile = HEICFile.Item(id: 5, type: "hvc1", data: Array("a tile".utf8))
        var file = HEICFile(Self.metadata + [HEICFile.image, tile])
        file.version = version
        file.items[0].pieces = 2
        file.items[3].pieces = 3
        let picture = try Picture(file.bytes)
        #expect(picture.format == .heic)
        for removed in ["48.137N", "Exif", "xmpmeta", "rdf+xml", "uri ", "https"] {
            #expect(isInside(removed, file.bytes) && !isInside(removed, picture.bytes), "\(removed)")
        }
        for kept in ["the picture", "a tile", "hvc1", "ispe", "irot"] { #expect(isInside(kept, picture.bytes)) }
        // Nothing was moved, so the places of the images are right.
        #expect(picture.bytes.count == file.bytes.count)
        #expect(picture.bytes.firstRange(of: Array("a tile".utf8)) == file.bytes.firstRange(of: Array("a tile".utf8)))
        #expect(try Picture(picture.bytes) == picture)
    }

    @Test func pictureWithoutMetadataIsUnchanged() throws {
        for dataLength in HEICFile.Length.allCases {
            for length in [HEICFile.Length.short, .long] {
                var file = HEICFile()
                (file.dataLength, file.length) = (dataLength, length)
                #expect(try Picture(file.bytes).bytes == file.bytes)
            }
        }
    }

    @Test func metadataAreRemovedWhateverTheLengthOfBoxes() throws {
        for dataLength in HEICFile.Length.allCases {
            var file = HEICFile(Self.metadata + [HEICFile.image])
            (file.dataLength, file.length) = (dataLength, .long)
            let picture = try Picture(file.bytes)
            #expect(isInside("the picture", picture.bytes) && !isInside("48.137N", picture.bytes))
        }
    }

    @Test func lengthsAreOnlyOpenAtTheEndOfTheFile() throws {
        let size = HEICFile.box("ispe", [0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 9], .rest)
        #expect(throws: PictureError.malformed(.heic)) { try Picture(Self.file { $0.properties = [size] }) }
        let long = HEICFile.box("ispe", [0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 9], .long)
        #expect(try Picture(Self.file { $0.properties = [long] }).format == .heic)
        // A length that does not count itself, one beyond the file, and one beyond 63 bits.
        for length in [[0, 0, 0, 0, 0, 0, 0, 15], [0, 0, 0, 0, 0, 0, 1, 0], [0x80, 0, 0, 0, 0, 0, 0, 16]] as [[UInt8]] {
            let bytes = HEICFile().bytes + [0, 0, 0, 1] + Array("free".utf8) + length
            #expect(throws: PictureError.malformed(.heic)) { try Picture(bytes) }
        }
    }

    /// Some phones append a film, which has its own place.
    @Test func boxesBehindTheImagesAreRemoved() throws {
        let film = HEICFile.box("mpvd", HEICFile.place) + HEICFile.box("uuid", HEICFile.place, .rest)
        #expect(try Picture(Self.file { $0.trailer = film }).bytes == HEICFile().bytes)
        // Boxes before images are overwritten, because their removal would change the offsets of images.
        let box = HEICFile.box("uuid", HEICFile.place)
        let between = try Picture(Self.file { $0.trailer = box + HEICFile.box("mdat", [1, 2]) }).bytes
        let zeros = HEICFile.box("free", [UInt8](repeating: 0, count: 7)) + HEICFile.box("mdat", [0, 0])
        #expect(between == Self.file { $0.trailer = zeros })
    }

    @Test func textsOfTheDescriptionAreRemoved() throws {
        var image = HEICFile.image
        image.description = Array("48.137N\0".utf8)
        var file = HEICFile([image])
        file.properties += [
            HEICFile.box("udes", HEICFile.place), HEICFile.box("crtt", HEICFile.place),
            HEICFile.box("auxC", Array("urn:kept".utf8)),
        ]
        file.boxes = [HEICFile.box("xml ", HEICFile.place), HEICFile.box("uuid", HEICFile.place)]
        let picture = try Picture(file.bytes)
        #expect(!isInside("48.137N", picture.bytes) && picture.bytes.count == file.bytes.count)
        for removed in ["udes", "crtt", "xml ", "uuid"] { #expect(!isInside(removed, picture.bytes)) }
        #expect(isInside("urn:kept", picture.bytes))
    }

    @Test func dataOfNoItemAreRemoved() throws {
        let file = HEICFile([
            HEICFile.image, HEICFile.Item(id: 7, type: "hvc1", data: HEICFile.place, pieces: 0),
            HEICFile.Item(id: 8, type: "grid", data: Array("a grid".utf8), origin: 1),
            HEICFile.Item(id: 9, type: "Exif", data: HEICFile.place, origin: 1),
        ])
        let picture = try Picture(file.bytes)
        #expect(isInside("a grid", picture.bytes) && !isInside("48.137N", picture.bytes))
    }

    @Test func pictureOfAnotherKindIsRefused() throws {
        let jpeg = HEICFile.Item(id: 1, type: "jpeg", data: HEICFile.place)
        #expect(throws: PictureError.metadata) { try Picture(HEICFile([jpeg]).bytes) }
        #expect(throws: PictureError.metadata) { try Picture(Self.file { $0.primary = 9 }) }
        #expect(throws: PictureError.metadata) { try Picture(Self.file { $0.version = 3 }) }
    }

    @Test func contradictoryDescriptionsAreRefused() throws {
        let twice = HEICFile([HEICFile.image, HEICFile.image])
        #expect(throws: PictureError.malformed(.heic)) { try Picture(twice.bytes) }
        let second = Self.file { $0.boxes = [HEICFile.box("pitm", [0, 0, 0, 0, 0, 1])] }
        #expect(throws: PictureError.malformed(.heic)) { try Picture(second) }
        let meta = Self.file { $0.trailer = HEICFile.box("meta", [0, 0, 0, 0]) }
        #expect(throws: PictureError.malformed(.heic)) { try Picture(meta) }
        // The image ends behind its data.
        for length in [HEICFile.Length.short, .rest] {
            let cut = Array(Self.file { $0.dataLength = length }.dropLast())
            #expect(throws: PictureError.malformed(.heic)) { try Picture(cut) }
        }
    }

    @Test func heicWithTooManyPixelsIsRefused() throws {
        let tile = HEICFile.size(512, 512)
        #expect(try Picture(Self.file { $0.properties = [tile, HEICFile.size(0x1F80, 0x17A0)] }).format == .heic)
        for size in [(0xFFFF, 0xFFFF), (0, 1), (1, 0), (0x7FFF_FFFF, 0x7FFF_FFFF)] {
            #expect(throws: PictureError.size) {
                try Picture(Self.file { $0.properties = [tile, HEICFile.size(size.0, size.1)] })
            }
        }
        #expect(throws: PictureError.malformed(.heic)) { try Picture(Self.file { $0.properties = [] }) }
    }

    /// Extents without bytes in the file cost nothing to write.
    @Test func numberOfExtentsIsLimited() {
        let entries = (0..<8).flatMap { _ in [0, 1, 0, 0, 0xFF, 0xFF] as [UInt8] }
        var file = HEICFile.box("ftyp", Array("heic\0\0\0\0".utf8))
        let items = HEICFile.box("infe", [2, 0, 0, 0, 0, 1, 0, 0] + Array("hvc1\0".utf8))
        let content: [[UInt8]] = [
            [0, 0, 0, 0], HEICFile.box("pitm", [0, 0, 0, 0, 0, 1]), HEICFile.box("iinf", [0, 0, 0, 0, 0, 1] + items),
            HEICFile.box("iloc", [0, 0, 0, 0, 0, 0, 0, 8] + entries),
            HEICFile.box("iprp", HEICFile.box("ipco", HEICFile.size(1, 1))),
        ]
        file += HEICFile.box("meta", Array(content.joined())) + HEICFile.box("mdat", [1])
        #expect(throws: PictureError.malformed(.heic)) { try Picture(file) }
    }
}
