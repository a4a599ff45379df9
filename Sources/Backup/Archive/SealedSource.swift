import Crypto

/// Decrypts an archive; see ``SealedFormat``. Returns only chunks that were authenticated at their position.
final class SealedSource: ArchiveSource {
    private static let sealedCount = SealedFormat.chunkCount + AES256GCM.tagCount

    private let source: any ArchiveSource
    private let format: SealedFormat
    private var ahead: [UInt8]
    private var chunk: ArraySlice<UInt8> = []
    private var number: UInt64 = 0
    private var isAtEnd = false

    /// - Parameter source: positioned after the magic.
    convenience init(_ source: any ArchiveSource, passphrase: Secret) throws {
        let format = try SealedFormat(passphrase, salt: try source.readExactly(SealedFormat.saltCount))
        guard constantTimeEqual(try source.readExactly(SealedFormat.proofCount), format.proof) else {
            throw ArchiveError.wrongPassphrase
        }
        try self.init(source, format)
    }

    /// - Parameter source: positioned after the proof of the passphrase.
    init(_ source: any ArchiveSource, _ format: SealedFormat) throws {
        self.source = source
        self.format = format
        ahead = try source.read(Self.sealedCount)
    }

    func read(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count {
            if chunk.isEmpty {
                if isAtEnd { break }
                chunk = try nextChunk()[...]
            }
            let piece = chunk.prefix(count - bytes.count)
            bytes += piece
            chunk = chunk.dropFirst(piece.count)
        }
        return bytes
    }

    private func nextChunk() throws -> [UInt8] {
        let sealed = ahead
        ahead = sealed.count == Self.sealedCount ? try source.read(Self.sealedCount) : []
        isAtEnd = ahead.isEmpty
        guard let plain = format.open(sealed, number: number, isLast: isAtEnd) else {
            // If the chunk at the end is valid but not the last, whole chunks are missing. If it is incomplete, truncation and
            // alteration cannot be distinguished.
            let isCutOff = isAtEnd && format.open(sealed, number: number, isLast: false) != nil
            throw isCutOff ? ArchiveError.truncated : ArchiveError.altered("chunk \(number) is altered or cut off")
        }
        number += 1
        return plain
    }
}
