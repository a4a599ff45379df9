import Basics
import Checksums
import Crypto

/// An API token: `dgwt_`, the 16 characters of its id, a secret of 43, and a checksum of 6, all of letters and digits.
///
/// A double click selects the whole token, secret scanners recognize it, and a token with a typing error is refused without a look
/// into the database. The secret has 256 random bits; only the id and a keyed digest are stored.
struct APITokenText: Sendable {
    /// The beginning of each token, which people and secret scanners can recognize.
    static let prefix = TokenPrefix.apiToken.rawValue
    private static let idLength = 16
    private static let secretLength = 43
    private static let checksumLength = 6
    private static let length = prefix.utf8.count + idLength + secretLength + checksumLength
    private static let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

    let id: String
    private let secret: Secret

    /// Makes a new token.
    init() {
        id = String(decoding: Self.randomCharacters(Self.idLength), as: UTF8.self)
        secret = Secret(Self.randomCharacters(Self.secretLength))
    }

    /// Parses a token; `nil` for any text that was not made as one.
    init?(text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == Self.length, text.hasPrefix(Self.prefix) else { return nil }
        let (body, checksum) = (bytes.dropLast(Self.checksumLength), bytes.suffix(Self.checksumLength))
        let characters = body.dropFirst(Self.prefix.utf8.count)
        guard characters.allSatisfy(\.isASCIIAlphanumeric), Self.checksum(body) == Array(checksum) else { return nil }
        id = String(decoding: characters.prefix(Self.idLength), as: UTF8.self)
        secret = Secret(Array(characters.dropFirst(Self.idLength)))
    }

    /// The text for the user, which is shown only once.
    var text: String {
        let body = Array(Self.prefix.utf8) + Array(id.utf8) + secret.exposed
        return String(decoding: body + Self.checksum(body[...]), as: UTF8.self)
    }

    /// Returns the digest that is stored.
    func digest(pepper: [UInt8]) -> [UInt8] {
        HMAC.sha256(key: pepper, Array("api token \(id) ".utf8) + secret.exposed)
    }

    private static func randomCharacters(_ count: Int) -> [UInt8] {
        var characters: [UInt8] = []
        while characters.count < count {
            // Larger values would make some characters more frequent.
            for byte in Random.bytes(count) where byte < 248 && characters.count < count {
                characters.append(alphabet[Int(byte) % alphabet.count])
            }
        }
        return characters
    }

    /// Returns the CRC-32 (ISO-HDLC, as of zip and PNG) in base 62.
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var crc = CRC32()
        bytes.withUnsafeBytes { crc.update($0) }
        var rest = crc.value
        var digits: [UInt8] = []
        for _ in 0..<checksumLength {
            digits.insert(alphabet[Int(rest % 62)], at: 0)
            rest /= 62
        }
        return digits
    }
}
