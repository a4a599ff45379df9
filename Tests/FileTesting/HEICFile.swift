/// Writes a HEIC file as phones write it: images of parts, metadata between them, and the places of both.
package struct HEICFile {
    /// A way to write the length of a box.
    package enum Length: CaseIterable {
        case short
        case long
        /// The rest of the file.
        case rest
    }

    package struct Item {
        package var id: UInt8
        package var type: String
        package var data: [UInt8]
        /// The name, which follows the type, and for some types more.
        package var description: [UInt8]
        /// The place of the data: 0 = in the file, 1 = in the box `idat`.
        package var origin: UInt8
        /// The number of pieces of the data.
        package var pieces: Int

        package init(
            id: UInt8, type: String, data: [UInt8], description: [UInt8] = [0], origin: UInt8 = 0, pieces: Int = 1
        ) {
            (self.id, self.type, self.data) = (id, type, data)
            (self.description, self.origin, self.pieces) = (description, origin, pieces)
        }
    }

    package static let place = Array("48.137N".utf8)

    package static func number(_ value: Int, _ bytes: Int) -> [UInt8] {
        (0..<bytes).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    package static func box(_ type: String, _ content: [UInt8], _ length: Length = .short) -> [UInt8] {
        switch length {
        case .short: number(content.count + 8, 4) + Array(type.utf8) + content
        case .long: number(1, 4) + Array(type.utf8) + number(content.count + 16, 8) + content
        case .rest: number(0, 4) + Array(type.utf8) + content
        }
    }

    package static func size(_ width: Int, _ height: Int) -> [UInt8] {
        box("ispe", [0, 0, 0, 0] + number(width, 4) + number(height, 4))
    }

    package static let image = Item(id: 1, type: "hvc1", data: Array("the picture".utf8))

    package var items: [Item]
    package var properties = [size(64, 32), box("irot", [3])]
    package var boxes: [[UInt8]] = []
    /// The version of the box `iloc`.
    package var version: UInt8 = 1
    package var primary: UInt8 = 1
    package var dataLength = Length.short
    /// The lengths of the boxes `ftyp` and `meta`, which are not the last.
    package var length = Length.short
    /// The bytes behind the data.
    package var trailer: [UInt8] = []

    package init(_ items: [Item] = [image]) {
        self.items = items
    }

    package var bytes: [UInt8] {
        // The places of the data depend on the length of what is before them.
        let start = head(dataStart: 0).count + (dataLength == .long ? 16 : 8)
        return head(dataStart: start) + Self.box("mdat", data(origin: 0), dataLength) + trailer
    }

    private func data(origin: UInt8) -> [UInt8] { items.filter { $0.origin == origin }.flatMap(\.data) }

    private func head(dataStart: Int) -> [UInt8] {
        let type = Self.box("ftyp", Array("heic".utf8) + [0, 0, 0, 0] + Array("mif1heic".utf8), length)
        let entries = items.flatMap {
            Self.box("infe", [2, 0, 0, 0, 0, $0.id, 0, 0] + Array($0.type.utf8) + $0.description)
        }
        let content: [[UInt8]] = [
            [0, 0, 0, 0], Self.box("hdlr", [UInt8](repeating: 0, count: 8) + Array("pict".utf8) + Self.number(0, 13)),
            Self.box("pitm", [0, 0, 0, 0, 0, primary]),
            Self.box("iinf", [0, 0, 0, 0, 0, UInt8(items.count)] + entries), locations(dataStart),
            Self.box(
                "iprp", Self.box("ipco", Array(properties.joined())) + Self.box("ipma", [0, 0, 0, 0, 0, 0, 0, 0])),
            Self.box("idat", data(origin: 1)),
        ]
        return type + Self.box("meta", Array((content + boxes).joined()), length)
    }

    private func locations(_ dataStart: Int) -> [UInt8] {
        var next = [dataStart, 0]
        var entries: [UInt8] = []
        for item in items {
            let wide = version == 2
            entries += Self.number(Int(item.id), wide ? 4 : 2)
            if version > 0 { entries += [0, item.origin] }
            entries += [0, 0] + Self.number(next[Int(item.origin)], 4) + Self.number(item.pieces, 2)
            var offset = 0
            for piece in 0..<item.pieces {
                let end = item.data.count * (piece + 1) / item.pieces
                entries += Self.number(offset, 4) + Self.number(end - offset, 4)
                offset = end
            }
            next[Int(item.origin)] += item.data.count
        }
        // Offsets, lengths and bases of four bytes.
        return Self.box(
            "iloc",
            [version, 0, 0, 0, 0x44, 0x40] + Self.number(items.count, version == 2 ? 4 : 2) + entries)
    }
}
