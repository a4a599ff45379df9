import Basics

/// The header of a record in an archive: its kind, its name, and the number of bytes that follow.
///
/// An archive is ``magic`` and records: one manifest, one database, the keys, one list of objects; then for each object of the
/// list, in its order, its facts, if there are any, and its data; and the end, whose 32 bytes are the SHA-256 of everything before
/// it. Numbers are big-endian.
struct ArchiveRecord: Equatable {
    enum Kind: UInt8 {
        /// JSON, see ``Manifest``.
        case manifest = 0x4D
        case database = 0x44
        /// A file of `keys/`, with its name.
        case key = 0x4B
        /// The list of objects, with a ``ListedObject`` entry for each.
        case list = 0x4C
        /// The facts of an object as JSON; the name is the file id.
        case facts = 0x46
        /// The data of an object; the name is the file id.
        case object = 0x4F
        case end = 0x45
    }

    static let magic = Array("data-gateway backup 1\n".utf8)
    /// The first bytes of every version.
    static let family = Array("data-gateway backup ".utf8)
    static let headCount = 10

    let kind: Kind
    /// The name; at most 255 bytes.
    let name: String
    /// The number of bytes that follow.
    let length: Int64

    var encoded: [UInt8] {
        let name = Array(name.utf8.prefix(255))
        return [kind.rawValue, UInt8(name.count)] + UInt64(length).bigEndianBytes + name
    }
}
