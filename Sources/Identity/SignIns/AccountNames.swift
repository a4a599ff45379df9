import Accounts
import Basics
import Capability
import Crypto
import GatewayAPI
import IdentityTokens
import JSON

/// The names for an account that a sign-in makes, the preferred one first. Names are not identities: a person is recognized by the
/// provider's `sub` alone.
enum AccountNames {
    static func candidates(for token: IdentityToken, role: Role) -> [String] {
        // Names stay in the audit log after their accounts are gone. A member's says nothing about the person.
        if role == .member { return [member()] }
        let named = [
            token.isEmailVerified ? token.email : nil, token.claims["preferred_username"]?.stringValue, token.subject,
        ]
        .compactMap { $0 }.filter(FieldRules.isAccountName)
        let digest = Hex.lower(Digest.sha256(Array("\(token.issuer) \(token.subject)".utf8)).prefix(8))
        let distinct = named.first.map { "\($0.prefix(64 - digest.count - 1))-\(digest)" }
        return named.prefix(1) + [distinct ?? "user-\(digest)"]
    }

    /// Returns a random name for a user of an app.
    static func member() -> String { "m-" + Hex.lower(Random.bytes(16)) }
}
