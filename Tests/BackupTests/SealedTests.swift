import Crypto
import TestSupport
import Testing

@testable import Backup

/// Encrypted archives: each chunk is authenticated at its position, and the last one as such.
@Suite(.timeLimited) struct SealedTests {
    private static let chunk = SealedFormat.chunkCount
    private static let sealedChunk = chunk + AES256GCM.tagCount
    /// Shared by all tests, because scrypt is slow.
    private static let format = Result {
        try SealedFormat(Secret("correct horse"), salt: Array(repeating: 5, count: 16))
    }
    private static let headCount = SealedFormat.magic.count + SealedFormat.saltCount + SealedFormat.proofCount

    private func seal(_ bytes: [UInt8]) throws -> [UInt8] {
        let sink = MemorySink()
        let sealed = try SealedSink(sink, try Self.format.get())
        // In pieces that differ from the size of chunks.
        for start in stride(from: 0, to: bytes.count, by: 50_000) {
            try sealed.write(Array(bytes[start..<min(start + 50_000, bytes.count)]))
        }
        try sealed.finish()
        return Array(sink.bytes.dropFirst(Self.headCount))
    }

    private func open(_ sealed: [UInt8]) throws -> [UInt8] {
        let source = try SealedSource(MemorySource(sealed), try Self.format.get())
        var bytes: [UInt8] = []
        while true {
            let piece = try source.read(70_000)
            bytes += piece
            if piece.count < 70_000 { return bytes }
        }
    }

    private func content(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    }

    @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 131_072, 200_000])
    func sealedBytesOpenToTheSameBytes(count: Int) throws {
        let bytes = content(count)
        let sealed = try seal(bytes)
        #expect(sealed.count == count + max(1, (count + Self.chunk - 1) / Self.chunk) * AES256GCM.tagCount)
        #expect(try open(sealed) == bytes)
    }

    @Test func wholeChunksThatAreMissingAtTheEndAreTold() throws {
        let sealed = try seal(content(3 * Self.chunk))
        for chunks in 1...2 {
            #expect(throws: ArchiveError.truncated) { try open(Array(sealed.prefix(chunks * Self.sealedChunk))) }
        }
        #expect(throws: ArchiveError.self) { try open([]) }
        #expect(throws: ArchiveError.self) { try open(Array(sealed.dropLast())) }
    }

    @Test func chunksCannotBeMovedDoubledOrLeftOut() throws {
        let sealed = try seal(content(3 * Self.chunk))
        let chunks = (0..<3).map { Array(sealed[($0 * Self.sealedChunk)..<(($0 + 1) * Self.sealedChunk)]) }
        for order in [[1, 0, 2], [0, 0, 1, 2], [0, 2], [1, 2], [0, 1, 2, 2], [2]] {
            #expect(throws: ArchiveError.self) { try open(order.flatMap { chunks[$0] }) }
        }
    }

    @Test func noBitCanBeChanged() throws {
        let sealed = try seal(content(300))
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 0x10
            #expect(throws: ArchiveError.self) { try open(changed) }
        }
    }

    @Test func anotherPassphraseIsTold() throws {
        let sink = MemorySink()
        try SealedSink(sink, try Self.format.get()).finish()
        let behindMagic = Array(sink.bytes.dropFirst(SealedFormat.magic.count))
        #expect(throws: ArchiveError.wrongPassphrase) {
            try SealedSource(MemorySource(behindMagic), passphrase: Secret("incorrect horse"))
        }
        #expect(try SealedSource(MemorySource(behindMagic), passphrase: Secret("correct horse")).read(1).isEmpty)
    }
}
