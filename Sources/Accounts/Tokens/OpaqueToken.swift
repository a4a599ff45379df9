import Basics
import Crypto

/// A secret that clients receive and that is recognized by its digest: an API key's credential, a refresh token, or a service
/// account's system credential.
///
/// The text is the Base64 of 3 bytes that identify the kind, the 36 characters of the id, and 30 random bytes: 92 characters,
/// without padding. Only the id and a keyed digest are stored, so a stolen database contains no usable credentials.
struct OpaqueToken: Sendable {
    enum Kind: Sendable {
        case apiKey
        case refresh
        case system

        fileprivate var prefix: String {
            let prefix: TokenPrefix =
                switch self {
                case .apiKey: .apiKey
                case .refresh: .refreshToken
                case .system: .systemCredential
                }
            return prefix.rawValue
        }
    }

    static let idLength = 36
    static let secretLength = 30

    let kind: Kind
    let id: String
    let secret: Secret

    /// Makes a new token.
    init(_ kind: Kind, id: String) {
        self.init(kind, id: id, secret: Secret(Random.bytes(Self.secretLength)))
    }

    init(_ kind: Kind, id: String, secret: Secret) {
        self.kind = kind
        self.id = id
        self.secret = secret
    }

    /// Parses a token; `nil` for any text that is not a token of this kind.
    init?(_ kind: Kind, text: String) {
        guard text.utf8.count == 92, text.hasPrefix(kind.prefix), let bytes = Base64.decode(text) else { return nil }
        let id = bytes[3..<3 + Self.idLength]
        guard id.allSatisfy(\.isASCIIVisible) else { return nil }
        self.init(
            kind, id: String(decoding: id, as: UTF8.self), secret: Secret(Array(bytes[(3 + Self.idLength)...])))
    }

    /// The text for the client, which is shown only once.
    var text: String {
        Base64.encode((Base64.decode(kind.prefix) ?? []) + Array(id.utf8) + secret.exposed)
    }

    /// Returns the token that follows in a rotation. It is the same at each call, so that a client whose response was lost can get
    /// it again although only digests are stored. It cannot be computed without the pepper.
    func successor(pepper: [UInt8]) -> OpaqueToken {
        func derive(_ part: String) -> [UInt8] {
            HMAC.sha256(key: pepper, Array("successor \(part) \(id) ".utf8) + secret.exposed)
        }
        return OpaqueToken(
            kind, id: Hex.lower(derive("id")[..<(Self.idLength / 2)]),
            secret: Secret(Array(derive("secret")[..<Self.secretLength])))
    }

    /// Returns the digest that is stored.
    func digest(pepper: [UInt8]) -> [UInt8] {
        HMAC.sha256(key: pepper, Array("\(kind.prefix) \(id) ".utf8) + secret.exposed)
    }
}
