/// The entries of the items of a HEIC file: images, parts of images, and metadata (ISO/IEC 14496-12, section 8.11).
struct HEICItems {
    struct Item {
        /// `nil` if the entry is of a version that has none, which images cannot have.
        let type: String?
        /// The place of the type in the file.
        let typePlace: Range<Int>
        /// The place of the name and of what else follows the type.
        let description: Range<Int>
    }

    /// The place of an item's bytes.
    struct Extent {
        enum Origin: Int {
            case file = 0
            case itemData = 1
            case otherItem = 2
        }

        let item: Int
        let origin: Origin
        let offset: Int
        /// 0 = up to the end of the data.
        let length: Int
    }

    /// Returns the items by their id.
    ///
    /// - Parameter box: the content of the box `iinf`.
    static func list(in file: [UInt8], _ box: Range<Int>) throws(PictureError) -> [Int: Item] {
        var fields = HEICFields(file, box)
        let version = try fields.version()
        _ = try fields.number(version == 0 ? 2 : 4)
        var items: [Int: Item] = [:]
        for entry in try HEICBox.list(in: file, fields.rest) {
            guard entry.type == "infe" else { throw .malformed(.heic) }
            var fields = HEICFields(file, entry.content)
            let version = try fields.version()
            let id = try fields.number(version == 3 ? 4 : 2)
            // The index of a protection scheme.
            _ = try fields.number(2)
            let place = fields.position
            let type = version >= 2 ? try fields.text(4) : nil
            guard version <= 3, items[id] == nil else { throw .malformed(.heic) }
            items[id] = Item(type: type, typePlace: place..<fields.position, description: fields.rest)
        }
        return items
    }

    /// Returns the places of the bytes of all items that are within the file.
    ///
    /// - Parameter box: the content of the box `iloc`.
    static func extents(in file: [UInt8], _ box: Range<Int>) throws(PictureError) -> [Extent] {
        var fields = HEICFields(file, box)
        let version = try fields.version()
        guard version <= 2 else { throw .metadata }
        let lengths = try fields.number(2)
        let (offsetBytes, lengthBytes) = (lengths >> 12, lengths >> 8 & 0xF)
        let (baseBytes, indexBytes) = (lengths >> 4 & 0xF, version == 0 ? 0 : lengths & 0xF)
        guard [offsetBytes, lengthBytes, baseBytes, indexBytes].allSatisfy({ [0, 4, 8].contains($0) }) else {
            throw .malformed(.heic)
        }
        var extents: [Extent] = []
        for _ in 0..<(try fields.number(version == 2 ? 4 : 2)) {
            let id = try fields.number(version == 2 ? 4 : 2)
            guard let origin = Extent.Origin(rawValue: version == 0 ? 0 : try fields.number(2) & 0xF) else {
                throw .malformed(.heic)
            }
            // The index of another file.
            guard try fields.number(2) == 0 else { throw .metadata }
            let base = try fields.number(baseBytes)
            for _ in 0..<(try fields.number(2)) {
                _ = try fields.number(indexBytes)
                let (offset, isTooLarge) = base.addingReportingOverflow(try fields.number(offsetBytes))
                // An extent may have no bytes in this box, so their number is limited.
                guard !isTooLarge, extents.count < Picture.mostParts else { throw .malformed(.heic) }
                extents.append(Extent(item: id, origin: origin, offset: offset, length: try fields.number(lengthBytes)))
            }
        }
        return extents
    }
}
