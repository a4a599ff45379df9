/// The boxes of a HEIC file (ISO/IEC 14496-12 and ISO/IEC 23008-12), of which only those are kept that define the images.
///
/// Metadata are items between the images' own, and every image has its offset in the file. So nothing is moved: what is removed is
/// overwritten with zeros, and its type with one that readers skip. Removed are items other than images (Exif with the place and the
/// time, XMP), all data that belong to no image, names, unknown boxes, and what follows the last image, such as a film. The orientation
/// is a property of the image, and stays.
struct HEICMetadata {
    /// The type of boxes and items that readers skip.
    private static let skipped = Array("free".utf8)
    private static let keptBoxes: Set<String> = [
        "hdlr", "pitm", "iinf", "iloc", "iref", "iprp", "idat", "dinf", "grpl",
    ]
    /// The types of images, and of those that consist of others.
    private static let keptItems: Set<String> = [
        "hvc1", "hev1", "lhv1", "hvt1", "av01", "avc1", "j2k1", "grid", "iovl", "iden", "tmap",
    ]
    /// The properties that decoders need. Others describe, such as a title or the time when the picture was taken.
    private static let keptProperties: Set<String> = [
        "hvcC", "lhvC", "hvtC", "av1C", "avcC", "j2kH", "ispe", "pixi", "colr", "pasp", "clap", "irot", "imir", "iscl",
        "rloc", "auxC", "mdcv", "clli", "cclv", "amve", "lsel", "tols", "oinf", "a1op", "a1lx",
    ]
    /// The length of a handler up to its name (ISO/IEC 14496-12, section 8.4.3).
    private static let handlerName = 24
    /// The most data boxes; phones write one.
    private static let mostDataBoxes = 100

    static func removed(from bytes: [UInt8]) throws(PictureError) -> [UInt8] {
        var removal = HEICMetadata(bytes)
        try removal.run()
        return removal.output
    }

    private let input: [UInt8]
    private var output: [UInt8]

    private init(_ bytes: [UInt8]) {
        (input, output) = (bytes, bytes)
    }

    private mutating func run() throws(PictureError) {
        let boxes = try HEICBox.list(in: input)
        let (metadata, data) = (boxes.filter { $0.type == "meta" }, boxes.filter { $0.type == "mdat" })
        guard metadata.count == 1, (1...Self.mostDataBoxes).contains(data.count) else { throw .malformed(.heic) }
        // The first box has the file's type.
        for box in boxes.dropFirst() where box.type != "meta" && box.type != "mdat" { skip(box) }
        try clean(metadata[0], data.map(\.content))
        let end = max(metadata[0].content.upperBound, data[data.count - 1].content.upperBound)
        output.removeSubrange(end...)
    }

    /// Removes metadata from the box that describes the images, and from the data.
    private mutating func clean(_ metadata: HEICBox, _ data: [Range<Int>]) throws(PictureError) {
        var fields = HEICFields(input, metadata.content)
        _ = try fields.version()
        var boxes: [String: Range<Int>] = [:]
        for box in try HEICBox.list(in: input, fields.rest) {
            if Self.keptBoxes.contains(box.type) {
                guard boxes.updateValue(box.content, forKey: box.type) == nil else { throw .malformed(.heic) }
            } else {
                skip(box)
            }
        }
        if let handler = boxes["hdlr"] {
            zero(min(handler.lowerBound + Self.handlerName, handler.upperBound)..<handler.upperBound)
        }
        guard let properties = boxes["iprp"] else { throw .malformed(.heic) }
        try cleanProperties(properties)
        switch (boxes["iinf"], boxes["iloc"], boxes["pitm"]) {
        case (let items?, let locations?, let primary?):
            let images = try cleanItems(items, primary)
            let extents = try HEICItems.extents(in: input, locations).filter { images.contains($0.item) }
            try zeroUnused(extents, data, itemData: boxes["idat"])
        case (nil, nil, nil):
            // Nothing refers to the data.
            break
        default: throw .malformed(.heic)
        }
    }

    /// Removes properties, and checks the sizes of the images and of their tiles, of which there is one at least.
    private mutating func cleanProperties(_ properties: Range<Int>) throws(PictureError) {
        var sizes = 0
        for box in try HEICBox.list(in: input, properties) where box.type != "ipma" {
            guard box.type == "ipco" else {
                skip(box)
                continue
            }
            // Images refer to properties by their order, in which skipped ones count.
            for property in try HEICBox.list(in: input, box.content) {
                if !Self.keptProperties.contains(property.type) { skip(property) }
                guard property.type == "ispe" else { continue }
                var fields = HEICFields(input, property.content)
                _ = try fields.version()
                try Picture.checkSize(width: try fields.number(4), height: try fields.number(4))
                sizes += 1
            }
        }
        guard sizes > 0 else { throw .malformed(.heic) }
    }

    /// Removes the names of items, and the types of those that are no images.
    ///
    /// - Returns: the ids of the images.
    private mutating func cleanItems(_ entries: Range<Int>, _ primary: Range<Int>) throws(PictureError) -> Set<Int> {
        var images: Set<Int> = []
        for (id, item) in try HEICItems.list(in: input, entries) {
            zero(item.description)
            if let type = item.type, Self.keptItems.contains(type) {
                images.insert(id)
            } else if item.type != nil {
                output.replaceSubrange(item.typePlace, with: Self.skipped)
            }
        }
        var fields = HEICFields(input, primary)
        let version = try fields.version()
        guard images.contains(try fields.number(version == 0 ? 2 : 4)) else { throw .metadata }
        return images
    }

    /// Overwrites the data that belong to no image.
    private mutating func zeroUnused(
        _ images: [HEICItems.Extent], _ data: [Range<Int>], itemData: Range<Int>?
    ) throws(PictureError) {
        var unused = RangeSet(data)
        if let itemData { unused.insert(contentsOf: itemData) }
        for extent in images {
            let (origin, sources): (Int, [Range<Int>])
            switch extent.origin {
            case .file: (origin, sources) = (0, data)
            case .itemData: (origin, sources) = (itemData?.lowerBound ?? 0, itemData.map { [$0] } ?? [])
            case .otherItem: throw .metadata
            }
            guard extent.offset <= input.count, case let start = origin + extent.offset,
                let source = sources.first(where: { $0.contains(start) }),
                extent.length <= source.upperBound - start
            else { throw .malformed(.heic) }
            unused.remove(contentsOf: start..<(extent.length == 0 ? source.upperBound : start + extent.length))
        }
        for range in unused.ranges { zero(range) }
    }

    /// Makes readers skip a box, and overwrites its content.
    private mutating func skip(_ box: HEICBox) {
        // The type follows the length of four bytes, also where one of eight bytes is used.
        output.replaceSubrange(box.start + 4..<box.start + 8, with: Self.skipped)
        zero(box.content)
    }

    private mutating func zero(_ range: Range<Int>) {
        output.withUnsafeMutableBytes { _ = $0[range].initializeMemory(as: UInt8.self, repeating: 0) }
    }
}
