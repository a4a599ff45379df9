import Basics

/// Access tokens as signed JWTs (RFC 7515, RFC 7519) with ES256, verified by the rules of RFC 8725.
///
/// Only this server writes tokens for itself, so a header is not interpreted: it is compared, as text, with the headers
/// that a known key writes. `none`, another algorithm, an unknown `kid`, `jku`, `crit` or a member that comes twice
/// are therefore all simply not a known header.
struct TokenSigner: Sendable {
    /// A longer token is refused unread.
    static let maximumLength = 8192
    /// How far this machine's clock may have been set back since a token was issued.
    static let leewaySeconds: Int64 = 30

    private static let issuer = "data-gateway"

    private let keys: SigningKeys
    private let known: [String: (kind: TokenKind, key: SigningKey)]

    init(keys: SigningKeys) {
        self.keys = keys
        var known: [String: (kind: TokenKind, key: SigningKey)] = [:]
        for key in keys.older + [keys.current] {
            for kind in TokenKind.allCases { known[Self.header(kind, key)] = (kind, key) }
        }
        self.known = known
    }

    func issue(_ token: AccessToken, at now: UnixTime) -> String {
        let claims = FlatJSON.encode([
            ("iss", .text(Self.issuer)), ("aud", .text(token.kind.audience)), ("sub", .text(token.subject)),
            ("iat", .number(now.seconds)), ("nbf", .number(now.seconds)), ("exp", .number(token.expiresAt.seconds)),
            ("epoch", .number(token.epoch)),
        ])
        let signed = Self.header(token.kind, keys.current) + "." + Base64.encodeURL(Array(claims.utf8))
        return signed + "." + Base64.encodeURL(keys.current.key.sign(Array(signed.utf8)))
    }

    /// What `text` says, if one of our keys signed it and it holds at `now`. Whether it was revoked is not known here.
    func verify(_ text: String, at now: UnixTime) -> AccessToken? {
        guard text.utf8.count <= Self.maximumLength else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let (kind, key) = known[String(parts[0])], key.verifies(at: now),
            let payload = Base64.decodeURL(parts[1]), let signature = Base64.decodeURL(parts[2]),
            key.key.verify(signature, of: Array("\(parts[0]).\(parts[1])".utf8)),
            let claims = FlatJSON.decode(payload)
        else { return nil }
        guard claims["iss"] == .text(Self.issuer), claims["aud"] == .text(kind.audience),
            case .text(let subject) = claims["sub"], case .number(let epoch) = claims["epoch"],
            case .number(let notBefore) = claims["nbf"], case .number(let expiry) = claims["exp"]
        else { return nil }
        let token = AccessToken(
            kind: kind, subject: subject, epoch: epoch, expiresAt: UnixTime(seconds: expiry))
        guard now < token.expiresAt, notBefore <= now.seconds + Self.leewaySeconds else { return nil }
        return token
    }

    /// The public keys as a JWK Set (RFC 7517, section 5): those that a token is verified with at `now`.
    func publicKeys(at now: UnixTime) -> String {
        let published = ([keys.current] + keys.older).filter { $0.verifies(at: now) }
        return "{\"keys\":[\(published.map(\.publicKey).joined(separator: ","))]}"
    }

    private static func header(_ kind: TokenKind, _ key: SigningKey) -> String {
        let header = FlatJSON.encode([("alg", .text("ES256")), ("typ", .text(kind.type)), ("kid", .text(key.id))])
        return Base64.encodeURL(Array(header.utf8))
    }
}
