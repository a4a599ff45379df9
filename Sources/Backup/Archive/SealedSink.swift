import Crypto

/// Encrypts its input; see ``SealedFormat``.
final class SealedSink: ArchiveSink {
    private let sink: any ArchiveSink
    private let format: SealedFormat
    private var chunk: [UInt8] = []
    private var number: UInt64 = 0

    convenience init(_ sink: any ArchiveSink, passphrase: Secret) throws {
        try self.init(sink, try SealedFormat(passphrase, salt: Random.bytes(SealedFormat.saltCount)))
    }

    init(_ sink: any ArchiveSink, _ format: SealedFormat) throws {
        self.sink = sink
        self.format = format
        chunk.reserveCapacity(SealedFormat.chunkCount)
        try sink.write(SealedFormat.magic + format.salt + format.proof)
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            // A full chunk waits for further input, because it may be the last one.
            if chunk.count == SealedFormat.chunkCount { try send(isLast: false) }
            let piece = rest.prefix(SealedFormat.chunkCount - chunk.count)
            chunk += piece
            rest = rest.dropFirst(piece.count)
        }
    }

    func finish() throws {
        try send(isLast: true)
    }

    private func send(isLast: Bool) throws {
        try sink.write(format.seal(chunk, number: number, isLast: isLast))
        chunk.removeAll(keepingCapacity: true)
        number += 1
    }
}
