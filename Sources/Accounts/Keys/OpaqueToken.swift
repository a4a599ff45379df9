import Basics
import Crypto

/// A secret that we hand out and know again by its digest: an API key's credential, a refresh token, a
/// service account's system credential.
///
/// Base64 of 3 bytes that make it recognizable, the 36 characters of its id, and 30 random bytes: 92 characters, without
/// padding. Only the id and a keyed digest are stored, so a stolen database opens nothing.
struct OpaqueToken: Sendable {
    /// What the text of each kind begins with, so that people and secret scanners see what they have found.
    enum Kind: String, Sendable {
        case apiKey = "dgwk"
        case refresh = "dgwr"
        case system = "dgws"
    }

    static let idLength = 36
    static let secretLength = 30

    let kind: Kind
    let id: String
    let secret: Secret

    /// A new one.
    init(_ kind: Kind, id: String) {
        self.init(kind, id: id, secret: Secret(Random.bytes(Self.secretLength)))
    }

    init(_ kind: Kind, id: String, secret: Secret) {
        self.kind = kind
        self.id = id
        self.secret = secret
    }

    /// `nil` for anything that was not issued as this kind.
    init?(_ kind: Kind, text: String) {
        guard text.utf8.count == 92, text.hasPrefix(kind.rawValue), let bytes = Base64.decode(text) else { return nil }
        let id = bytes[3..<3 + Self.idLength]
        guard id.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        self.init(
            kind, id: String(decoding: id, as: UTF8.self), secret: Secret(Array(bytes[(3 + Self.idLength)...])))
    }

    /// What is handed out, once.
    var text: String {
        Base64.encode((Base64.decode(kind.rawValue) ?? []) + Array(id.utf8) + secret.exposed)
    }

    /// The one that follows in a rotation: the same each time it is asked for, so that a client whose answer was lost
    /// can be given it again although only digests are stored. Nobody computes it without the pepper.
    func successor(pepper: [UInt8]) -> OpaqueToken {
        func derive(_ part: String) -> [UInt8] {
            HMAC.sha256(key: pepper, Array("successor \(part) \(id) ".utf8) + secret.exposed)
        }
        return OpaqueToken(
            kind, id: Hex.lower(derive("id")[..<(Self.idLength / 2)]),
            secret: Secret(Array(derive("secret")[..<Self.secretLength])))
    }

    /// What is stored.
    func digest(pepper: [UInt8]) -> [UInt8] {
        HMAC.sha256(key: pepper, Array("\(kind.rawValue) \(id) ".utf8) + secret.exposed)
    }
}
