import Crypto

/// Reads an archive, record after record; holds none. What it gives may still turn out to be altered: only when
/// ``next()`` has returned nil it is what was written.
final class ArchiveReader {
    /// How many of a record's bytes are read at a time.
    private static let piece = 1 << 18

    private let source: any ArchiveSource
    private let digest = IncrementalDigest(.sha256)
    /// Bytes of the current record that were not read.
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

    /// Passes over what was not read of the record before.
    ///
    /// - Returns: nil at the end, where all was as it was written.
    func next() throws -> ArchiveRecord? {
        try forEachPiece { _ in }
        let head = try source.readExactly(ArchiveRecord.headCount)
        guard let kind = ArchiveRecord.Kind(rawValue: head[0]), let length = Int64(exactly: bigEndian(head[2...]))
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

    /// The rest of the current record, a piece at a time.
    func forEachPiece(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        while unread > 0 {
            let bytes = try source.readExactly(Int(min(unread, Int64(Self.piece))))
            update(bytes)
            unread -= Int64(bytes.count)
            try bytes.withUnsafeBytes(body)
        }
    }

    /// The current record as a whole.
    ///
    /// - Parameter limit: a longer one is refused before it is read.
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
