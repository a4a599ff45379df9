import Basics
package import Crypto

/// Issues and verifies temporary credentials.
///
/// They are stateless: the security token consists of the claims and a MAC over them, and the access key id and the secret are
/// derived from the claims, so that a signature is verified without a lookup.
package struct CredentialIssuer: Sendable {
    /// The reason why a token is refused.
    package enum Refusal: Error {
        /// The token was not issued by this gateway, or was changed.
        case malformedToken
        /// The token is valid, but the access key id is not the one that was issued with it.
        case accessKeyMismatch
    }

    private enum Purpose: String {
        case token, secret, accessKey
    }

    private static let macSize = 32
    private static let nonceSize = 12

    private let keyring: Keyring
    /// The number of the key for new credentials; keys with lower numbers continue to verify.
    private let keyNumber: UInt32
    /// The key with that number, cached because most credentials use it.
    private let newestKey: [UInt8]
    private let verified = VerifiedTokens()

    package init(keyring: Keyring, keyNumber: UInt32 = 1) {
        self.keyring = keyring
        self.keyNumber = keyNumber
        newestKey = keyring.key(.temporaryCredentials, number: keyNumber)
    }

    package func issue(_ claims: CredentialClaims) -> TemporaryCredentials {
        let statement = claims.encoded(keyNumber: keyNumber, nonce: Random.bytes(Self.nonceSize))
        return TemporaryCredentials(
            accessKeyID: Self.accessKeyID(newestKey, statement),
            secret: Self.secret(newestKey, statement),
            securityToken: Base64.encodeURL(statement + Self.derive(newestKey, .token, statement)),
            expiresAt: claims.expiresAt)
    }

    /// Returns the claims of a token, and its secret. The caller checks their expiry after the signature has proven the secret.
    package func verify(accessKeyID: String, token: String) throws(Refusal) -> (
        claims: CredentialClaims, secret: Secret
    ) {
        let found = if let known = verified[token] { known } else { try verified.add(verify(token), for: token) }
        guard constantTimeEqual(Array(found.accessKeyID.utf8), Array(accessKeyID.utf8)) else {
            throw .accessKeyMismatch
        }
        return (found.claims, found.secret)
    }

    private func verify(_ token: String) throws(Refusal) -> VerifiedTokens.Token {
        guard let bytes = Base64.decodeURL(token), bytes.count > Self.macSize else { throw .malformedToken }
        let statement = Array(bytes.dropLast(Self.macSize))
        guard let number = CredentialClaims.keyNumber(of: statement), (1...keyNumber).contains(number) else {
            throw .malformedToken
        }
        let key = number == keyNumber ? newestKey : keyring.key(.temporaryCredentials, number: number)
        guard constantTimeEqual(Self.derive(key, .token, statement), Array(bytes.suffix(Self.macSize))),
            let claims = CredentialClaims(decoding: statement)
        else { throw .malformedToken }
        return VerifiedTokens.Token(
            accessKeyID: Self.accessKeyID(key, statement), claims: claims, secret: Self.secret(key, statement))
    }

    private static func accessKeyID(_ key: [UInt8], _ statement: [UInt8]) -> String {
        TokenPrefix.temporaryAccessKey.rawValue + Hex.upper(derive(key, .accessKey, statement).prefix(12))
    }

    private static func secret(_ key: [UInt8], _ statement: [UInt8]) -> Secret {
        Secret(Base64.encodeURL(derive(key, .secret, statement)))
    }

    private static func derive(_ key: [UInt8], _ purpose: Purpose, _ statement: [UInt8]) -> [UInt8] {
        HMAC.sha256(key: key, Array(purpose.rawValue.utf8) + [0] + statement)
    }
}

/// The tokens that were verified lately, with all that follows from them: a client sends its token with every request, and the
/// derivations take longer than the signature's check.
private final class VerifiedTokens: Sendable {
    struct Token {
        let accessKeyID: String
        let claims: CredentialClaims
        let secret: Secret
    }

    /// Some MiB. When there are more, all are verified again.
    private static let limit = 4096

    private let tokens = Lock<[String: Token]>([:])

    subscript(_ token: String) -> Token? { tokens.withLock { $0[token] } }

    func add(_ found: Token, for token: String) -> Token {
        tokens.withLock { tokens in
            if tokens.count == Self.limit { tokens = [:] }
            tokens[token] = found
        }
        return found
    }
}
