import Crypto

/// Writes an archive, record after record; holds none.
final class ArchiveWriter {
    private let sink: any ArchiveSink
    private let digest = IncrementalDigest(.sha256)

    init(_ sink: any ArchiveSink) throws {
        self.sink = sink
        try append(ArchiveRecord.magic)
    }

    /// A record that is at hand.
    func write(_ kind: ArchiveRecord.Kind, name: String = "", _ bytes: [UInt8]) throws {
        try begin(kind, name: name, length: Int64(bytes.count))
        try append(bytes)
    }

    /// The head of a record whose bytes are appended after it, exactly as many.
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
