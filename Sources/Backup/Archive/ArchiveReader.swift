import Basics
import Crypto

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
