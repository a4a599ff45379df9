import Basics
import Crypto
import JSON

/// Access tokens as JWTs (RFC 7515, RFC 7519) signed with ES256 and verified by the rules of RFC 8725.
///
/// The server only accepts its own tokens, so it does not interpret a header but compares its text with the headers that its keys
/// write. `none`, another algorithm, an unknown `kid`, `jku`, `crit` or a repeated member are therefore simply unknown headers.
struct TokenSigner: Sendable {
    /// The length in characters above which a token is refused unread.
    static let maximumLength = 8192
    /// The number of seconds by which this machine's clock may have been set back since a token was issued.
    static let leewaySeconds: Int64 = 30

    private static let issuer = "data-gateway"

    let keys: SigningKeys
    private let known: [String: (kind: TokenKind, key: SigningKey)]

    init(keys: SigningKeys) {
        self.keys = keys
        var known: [String: (kind: TokenKind, key: SigningKey)] = [:]
        for key in keys.all {
            for kind in TokenKind.allCases { known[Self.header(kind, key)] = (kind, key) }
        }
        self.known = known
    }

    func issue(_ token: AccessToken, at now: UnixTime) -> String {
        var claims: [(name: String, value: FlatJSON.Value)] = [
            ("iss", .text(Self.issuer)), ("aud", .text(token.kind.audience)), ("sub", .text(token.subject)),
            ("iat", .number(now.seconds)), ("nbf", .number(now.seconds)), ("exp", .number(token.expiresAt.seconds)),
            ("epoch", .number(token.epoch)),
        ]
        if let session = token.session { claims.append(("sid", .text(session))) }
        if let name = token.nameInApp { claims.append(("user_id", .text(name))) }
        let payload = Base64.encodeURL(Array(FlatJSON.encode(claims).utf8))
        let key = keys.signing(at: now)
        let signed = Self.header(token.kind, key) + "." + payload
        return signed + "." + Base64.encodeURL(key.key.sign(Array(signed.utf8)))
    }

    /// Returns the claims of a token that one of the gateway's keys signed and that is valid at `now`. Does not check for
    /// revocation.
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
        var token = AccessToken(
            kind: kind, subject: subject, epoch: epoch, expiresAt: UnixTime(seconds: expiry))
        if case .text(let session) = claims["sid"] { token.session = session }
        guard now < token.expiresAt, notBefore <= now.seconds + Self.leewaySeconds else { return nil }
        return token
    }

    /// Whether a text has the form of a token by a key that is not among these.
    func namesUnknownKey(_ text: String) -> Bool {
        guard text.utf8.count <= Self.maximumLength else { return false }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, known[String(parts[0])] == nil, let bytes = Base64.decodeURL(parts[0]),
            let header = FlatJSON.decode(bytes), header["alg"] == .text("ES256"), case .text(let type) = header["typ"],
            case .text(let id) = header["kid"]
        else { return false }
        return TokenKind.allCases.contains { $0.type == type } && !keys.all.contains { $0.id == id }
    }

    /// Returns the public keys that verify tokens at `now`, as a JWK Set (RFC 7517, section 5).
    func publicKeys(at now: UnixTime) -> String {
        let published = keys.all.reversed().filter { $0.verifies(at: now) }
        return "{\"keys\":[\(published.map(\.publicKey).joined(separator: ","))]}"
    }

    private static func header(_ kind: TokenKind, _ key: SigningKey) -> String {
        let header = FlatJSON.encode([("alg", .text("ES256")), ("typ", .text(kind.type)), ("kid", .text(key.id))])
        return Base64.encodeURL(Array(header.utf8))
    }
}

/// The JSON of the gateway's own tokens: one object whose values are strings without escapes, or whole numbers that are not
/// negative.
///
/// A repeated member would make a token ambiguous (RFC 8725, section 2.7). The decoder refuses everything that the encoder beside
/// it does not write.
enum FlatJSON {
    enum Value: Equatable {
        case text(String)
        case number(Int64)
    }

    /// - Parameter members: names and texts of plain ASCII without `"` and `\`; numbers that are not negative.
    static func encode(_ members: [(name: String, value: Value)]) -> String {
        let parts = members.map { name, value in
            switch value {
            case .text(let text): "\"\(name)\":\"\(text)\""
            case .number(let number): "\"\(name)\":\(number)"
            }
        }
        return "{\(parts.joined(separator: ","))}"
    }

    /// Returns `nil` for anything that ``encode(_:)`` does not write, and for a repeated member.
    static func decode(_ bytes: [UInt8]) -> [String: Value]? {
        guard bytes.allSatisfy({ $0.isASCIIPrintable && $0 != UInt8(ascii: "\\") }) else { return nil }
        var scanner = JSONScanner(bytes, rules)
        var members: [String: Value] = [:]
        var isFirst = true
        do throws(JSONError) {
            try scanner.beginObject()
            while let name = try scanner.nextMember(&isFirst) {
                guard let value = try value(&scanner), members.updateValue(value, forKey: name) == nil else {
                    return nil
                }
            }
            try scanner.expectEnd()
        } catch {
            return nil
        }
        return members.isEmpty ? nil : members
    }

    private static let rules = {
        var rules = JSONRules.json
        rules.permitsBlanks = false
        rules.maximumDepth = 1
        return rules
    }()

    private static func value(_ scanner: inout JSONScanner) throws(JSONError) -> Value? {
        if scanner.next(is: "\"") { return .text(try scanner.string()) }
        let digits = try scanner.number()
        guard digits.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
        return Int64(digits).map(Value.number)
    }
}
