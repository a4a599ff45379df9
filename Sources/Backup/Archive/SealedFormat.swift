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
