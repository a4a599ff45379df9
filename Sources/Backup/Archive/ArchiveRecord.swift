import Basics
import Crypto

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

/// Reads an archive record by record without keeping records in memory. The contents are only verified once ``next()`` has returned
/// `nil`; until then they may still turn out to be altered.
final class ArchiveReader {
    /// The number of bytes of a record that are read at once.
    private static let piece = 1 << 18

    private let source: any ArchiveSource
    private let digest = IncrementalDigest(.sha256)
    /// The number of unread bytes of the current record.
    private var unread: Int64 = 0

    /// - Throws: ``ArchiveError``.
    init(_ source: any ArchiveSource) throws {
        self.source = source
        let magic = try source.read(ArchiveRecord.magic.count)
        guard magic == ArchiveRecord.magic else {
            throw magic.starts(with: ArchiveRecord.family) ? ArchiveError.newer : ArchiveError.notAnArchive
        }
        update(magic)
    }

    /// Reads the header of the next record, and skips unread bytes of the one before.
    ///
    /// - Returns: `nil` at the end, if the whole archive is unaltered.
    func next() throws -> ArchiveRecord? {
        try forEachPiece { _ in }
        let head = try source.readExactly(ArchiveRecord.headCount)
        guard let kind = ArchiveRecord.Kind(rawValue: head[0]),
            let length = Int64(exactly: UInt64(bigEndianBytes: head[2...]))
        else {
            throw ArchiveError.altered("malformed record header")
        }
        if kind == .end {
            guard length == 32, head[1] == 0 else { throw ArchiveError.altered("malformed end record") }
            update(head)
            guard try source.readExactly(32) == digest.finalize() else {
                throw ArchiveError.altered("its bytes do not match its checksum")
            }
            guard try source.read(1).isEmpty else { throw ArchiveError.altered("it has bytes after its end record") }
            return nil
        }
        let name = try source.readExactly(Int(head[1]))
        update(head)
        update(name)
        unread = length
        return ArchiveRecord(kind: kind, name: String(decoding: name, as: UTF8.self), length: length)
    }

    /// Reads the rest of the current record piece by piece.
    func forEachPiece(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        while unread > 0 {
            let bytes = try source.readExactly(Int(min(unread, Int64(Self.piece))))
            update(bytes)
            unread -= Int64(bytes.count)
            try bytes.withUnsafeBytes(body)
        }
    }

    /// Reads the current record as a whole.
    ///
    /// - Parameter limit: the largest accepted length; checked before reading.
    func bytes(limit: Int) throws -> [UInt8] {
        guard unread <= limit else { throw ArchiveError.altered("a record exceeds its maximum length") }
        var all: [UInt8] = []
        try forEachPiece { all += $0 }
        return all
    }

    private func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { digest.update($0) }
    }
}

/// Writes an archive record by record without keeping records in memory.
final class ArchiveWriter {
    private let sink: any ArchiveSink
    private let digest = IncrementalDigest(.sha256)

    init(_ sink: any ArchiveSink) throws {
        self.sink = sink
        try append(ArchiveRecord.magic)
    }

    /// Writes a record that is completely in memory.
    func write(_ kind: ArchiveRecord.Kind, name: String = "", _ bytes: [UInt8]) throws {
        try begin(kind, name: name, length: Int64(bytes.count))
        try append(bytes)
    }

    /// Writes the header of a record; exactly `length` bytes have to be appended after it.
    func begin(_ kind: ArchiveRecord.Kind, name: String = "", length: Int64) throws {
        try append(ArchiveRecord(kind: kind, name: name, length: length).encoded)
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws {
        digest.update(bytes)
        try sink.write(bytes)
    }

    func append(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try append($0) }
    }

    func finish() throws {
        try append(ArchiveRecord(kind: .end, name: "", length: 32).encoded)
        try sink.write(digest.finalize())
    }
}
