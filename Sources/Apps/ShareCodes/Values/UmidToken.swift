import Basics
import Crypto

/// The secret that proves the ownership of a umid: `dgwu`, and the Base64url of an id of 12 bytes and of 30 random bytes. Only the
/// id and a keyed digest are stored.
struct UmidToken: Sendable {
    /// The beginning of each token, which people and secret scanners can recognize.
    private static let prefix = TokenPrefix.umidToken.rawValue
    private static let idLength = 12
    private static let secretLength = 30

    /// The id in lower-case hexadecimal digits.
    let id: String
    private let content: Secret

    /// Makes a new token.
    init() {
        self.init(content: Random.bytes(Self.idLength + Self.secretLength))
    }

    /// Parses a token; `nil` for any other text.
    init?(text: String) {
        guard text.hasPrefix(Self.prefix), let content = Base64.decodeURL(text.dropFirst(Self.prefix.count)),
            content.count == Self.idLength + Self.secretLength
        else { return nil }
        self.init(content: content)
    }

    private init(content: [UInt8]) {
        id = Hex.lower(content[..<Self.idLength])
        self.content = Secret(content)
    }

    /// The text for the app, which is shown only once.
    var text: String { Self.prefix + Base64.encodeURL(content.exposed) }

    /// Returns the digest that is stored.
    func digest(key: [UInt8]) -> [UInt8] { HMAC.sha256(key: key, content.exposed) }
}
