import Basics
import Crypto
import IdentityTokens
import JSON

/// Properties of the parsers of key sets and tokens of identity providers.
enum IdentityProperties {
    private static let key = ES256Key()
    private static let now = UnixTime(seconds: 1_800_000_000)

    private static let tokens: [String] = [
        sign(
            #"{"alg":"ES256","kid":"k","typ":"JWT"}"#,
            #"{"iss":"https://a","aud":["g","g"],"azp":"g","sub":"s","iat":1800000000,"exp":1.8e9,"email_verified":"true"}"#
        ),
        sign(#"{"alg":"ES256"}"#, #"{"iss":"https://a","aud":"g","sub":"s","iat":1800000000,"exp":1800000060}"#),
    ]

    private static let keySet: String = {
        let point = key.publicCoordinates
        return """
            {"keys":[{"kty":"EC","crv":"P-256","kid":"k","x":"\(Base64.encodeURL(point.x))",\
            "y":"\(Base64.encodeURL(point.y))"},{"kty":"OKP","kid":"o"}]}
            """
    }()

    private static let keys = try? JSONWebKeySet(parsing: Array(keySet.utf8))

    /// Two tokens and their claims, a key set, and one input for each rule that refuses a token or a set.
    static let seeds: [[UInt8]] =
        (tokens + [
            #"{"iss":"https://a","aud":["g","h"],"azp":"g","sub":"s","iat":1800000000,"exp":1.8e9,"email":"a@b"}"#,
            #"{"iss":"https://a","aud":"g","sub":"s","iat":1800000000,"exp":1800000060,"nbf":1,"email_verified":true}"#,
            keySet, keySet.replacing("]}", with: #",{"kty":"EC","crv":"P-256","kid":"k","x":"AA==","y":"AQ"}]}"#),
            #"{"keys":[{"kty":"RSA","n":"AQ","e":"AQAB","kid":"a"},{"kid":"a"}]}"#, #"{"keys":[]}"#,
            "e30.e30.e30",
            "a.b.c", "..", sign(#"{"alg":"none"}"#, "{}"), sign(#"{"alg":"ES256","crit":["x"]}"#, "{}"),
            sign(#"{"alg":"ES256","alg":"ES256"}"#, "[]"),
        ]).map { Array($0.utf8) }

    /// Checks that a key set is within its bounds, and that only the tokens above verify: a signature covers every byte of them.
    static func check(_ input: [UInt8]) {
        if let set = try? JSONWebKeySet(parsing: input) {
            precondition(input.count <= JSONWebKeySet.maximumBytes, "a key set is too long")
            let names = set.entries.compactMap { entry in
                entry.id.map { Array("\(entry.key.algorithm.rawValue) \($0)".utf8) }
            }
            precondition(Set(names).count == names.count, "two keys have the same name")
            precondition(set.entries.allSatisfy { set.hasKey($0.id) }, "a key of the set is not found")
        }
        checkClaims(input)
        let text = String(decoding: input, as: UTF8.self)
        guard let token = try? SignedToken(parsing: text) else { return }
        precondition(text.utf8.count <= SignedToken.maximumBytes, "a token is too long")
        guard let keys else { fatalError("the key set is refused") }
        let rules = IdentityTokenRules(issuer: "https://a", audiences: ["g"])
        guard let verified = try? rules.verify(token, of: .person, keys: keys, at: now) else { return }
        precondition(tokens.contains(text), "a changed token verifies")
        precondition(verified.subject == "s", "a token verifies with other claims")
    }

    /// Checks the claims of a token with a valid signature: one that verifies keeps every rule.
    private static func checkClaims(_ input: [UInt8]) {
        guard input.first == UInt8(ascii: "{"), let keys else { return }
        let text = sign(#"{"alg":"ES256","kid":"k"}"#, String(decoding: input, as: UTF8.self))
        let rules = IdentityTokenRules(issuer: "https://a", audiences: ["g"])
        guard let token = try? SignedToken(parsing: text) else { return }
        _ = try? rules.verifyNotice(token, keys: keys, at: now)
        _ = try? rules.verify(token, of: .workload, keys: keys, at: now)
        guard let verified = try? rules.verify(token, of: .person, keys: keys, at: now) else { return }
        precondition((1...255).contains(verified.subject.utf8.count), "the length of a subject is out of bounds")
        precondition(verified.expiresAt.seconds > now.seconds - 60, "an expired token verifies")
        let names = verified.claims["aud"]?.strings ?? []
        precondition(
            !names.isEmpty && names.allSatisfy { $0.isExactly("g") }, "a token for somebody else verifies")
        precondition(verified.email != nil || !verified.isEmailVerified, "an address that is missing is verified")
    }

    private static func sign(_ header: String, _ claims: String) -> String {
        let signed = Base64.encodeURL(Array(header.utf8)) + "." + Base64.encodeURL(Array(claims.utf8))
        return signed + "." + Base64.encodeURL(key.sign(Array(signed.utf8)))
    }
}
