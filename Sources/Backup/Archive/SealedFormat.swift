import Basics
import Crypto

/// The format of encrypted archives: ``magic``, 16 bytes of salt, 32 bytes that prove the passphrase, and the archive in chunks of
/// 64 KiB, each sealed with AES-256-GCM; the last one may be shorter.
///
/// A chunk's nonce contains its number and whether it is the last (the STREAM construction of Hoang, Reyhanitabar, Rogaway and
/// Vizár, 2015): removing, repeating, moving and cutting off chunks is detected. Keys are derived with scrypt from passphrase and
/// salt, so no two archives have the same key.
struct SealedFormat {
    static let magic = Array("data-gateway sealed 1\n".utf8)
    static let family = Array("data-gateway sealed ".utf8)
    static let saltCount = 16
    static let proofCount = 32
    static let chunkCount = 1 << 16

    let salt: [UInt8]
    private let key: [UInt8]
    /// Proves that the passphrase is right; a part of scrypt's output that is not used as a key.
    let proof: [UInt8]

    init(_ passphrase: Secret, salt: [UInt8]) throws {
        guard let derived = Scrypt.derive(passphrase, salt: salt, count: 64) else {
            throw DataDirectory.Problem(
                description:
                    "deriving the key from the passphrase needs 128 MiB of memory, which the system does not have")
        }
        self.salt = salt
        key = Array(derived[..<32])
        proof = HMAC.sha256(key: Array(derived[32...]), Self.magic + salt)
    }

    func seal(_ chunk: [UInt8], number: UInt64, isLast: Bool) -> [UInt8] {
        AES256GCM.seal(chunk, key: key, nonce: Self.nonce(number, isLast))
    }

    func open(_ sealed: [UInt8], number: UInt64, isLast: Bool) -> [UInt8]? {
        AES256GCM.open(sealed, key: key, nonce: Self.nonce(number, isLast))
    }

    private static func nonce(_ number: UInt64, _ isLast: Bool) -> [UInt8] {
        [0, 0, 0] + number.bigEndianBytes + [isLast ? 1 : 0]
    }
}

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
