import Database

/// An object of a page whose tags are not read yet.
struct ObjectRow: Sendable {
    let position: Int64
    let object: CatalogObject
    /// The size of the row in bytes, without tags.
    let bytes: Int
    /// The size of the object's tags in bytes; `nil` for objects of versions that did not count them.
    let tagBytes: Int?

    init(_ row: Row) {
        position = row.int64("position")
        object = CatalogObject(row)
        bytes = row.byteCount
        tagBytes = Self.tagBytes(row)
    }

    /// The size of the object in a page, as far as it is known before its tags are read.
    var size: Int { bytes + (tagBytes ?? 0) }

    static func tagBytes(_ row: Row) -> Int? {
        let counted = row.int("tag_bytes")
        return counted == 0 && row.bool("lacks_tag_texts") ? nil : counted
    }
}
