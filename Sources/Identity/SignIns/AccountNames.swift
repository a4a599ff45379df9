import Basics
import Crypto
import GatewayAPI
import IdentityTokens

/// The names for an account that a sign-in makes, the preferred one first. Names are not identities: a person is recognized by the
/// provider's `sub` alone.
enum AccountNames {
    static func candidates(for token: IdentityToken) -> [String] {
        let named = [
            token.isEmailVerified ? token.email : nil, token.claims["preferred_username"]?.text, token.subject,
        ]
        .compactMap { $0 }.filter(FieldRules.isAccountName)
        let digest = Hex.lower(Digest.sha256(Array("\(token.issuer) \(token.subject)".utf8)).prefix(8))
        let distinct = named.first.map { "\($0.prefix(64 - digest.count - 1))-\(digest)" }
        return named.prefix(1) + [distinct ?? "user-\(digest)"]
    }
}
