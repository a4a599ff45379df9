import Basics
import Crypto

/// A code for one sign-in without the authenticator app: ten characters of Base32, which are 50 random bits, written in two groups.
struct RecoveryCode: Sendable {
    /// The number of codes that a user gets.
    static let count = 10
    private static let length = 10

    private let characters: String

    /// Makes a new code.
    init() {
        characters = String(Base32.encode(Random.bytes(7)).prefix(Self.length)).lowercased()
    }

    /// Reads a code; spaces, hyphens and capital letters make no difference. `nil` if the text has another length or other
    /// characters.
    init?(text: String) {
        let characters = text.lowercased().filter { $0 != "-" && $0 != " " }
        guard characters.utf8.count == Self.length,
            characters.utf8.allSatisfy({ Base32.alphabet.contains($0 & 0xDF) || (0x32...0x37).contains($0) })
        else { return nil }
        self.characters = characters
    }

    /// The code for people, e.g. `k5j2x-q7ab3`.
    var text: String { "\(characters.prefix(Self.length / 2))-\(characters.suffix(Self.length / 2))" }

    /// Returns the digest that is stored.
    func digest(of userID: Int64, pepper: [UInt8]) -> [UInt8] {
        HMAC.sha256(key: pepper, Array("recovery \(userID) \(characters)".utf8))
    }
}
