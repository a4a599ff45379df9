/// The head of one record of an archive: what it is, its name, and how many bytes follow.
///
/// An archive is ``magic`` and records: one manifest, one database, the keys, one list of objects; then for each object
/// of the list, in its order, what stands beside it (facts, where there are some) and its data; and the end, whose 32
/// bytes are the SHA-256 of all before it. Numbers are big-endian.
struct ArchiveRecord: Equatable {
    enum Kind: UInt8 {
        /// JSON, see ``Manifest``.
        case manifest = 0x4D
        case database = 0x44
        /// A file of `keys/`, by its name.
        case key = 0x4B
        /// An entry of ``ListedObject`` for each object.
        case list = 0x4C
        /// The facts of the object whose file id is the name; JSON.
        case facts = 0x46
        /// By the name of its file.
        case object = 0x4F
        case end = 0x45
    }

    static let magic = Array("data-gateway backup 1\n".utf8)
    /// What every version begins with.
    static let family = Array("data-gateway backup ".utf8)
    static let headCount = 10

    let kind: Kind
    /// At most 255 bytes.
    let name: String
    /// Bytes.
    let length: Int64

    var encoded: [UInt8] {
        let name = Array(name.utf8.prefix(255))
        return [kind.rawValue, UInt8(name.count)] + bigEndian(UInt64(length)) + name
    }
}

/// 8 bytes.
func bigEndian(_ value: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (7 - $0))) }
}

func bigEndian(_ bytes: some Collection<UInt8>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
}
