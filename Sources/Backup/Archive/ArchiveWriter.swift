import Crypto

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
