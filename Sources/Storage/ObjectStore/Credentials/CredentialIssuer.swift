import Basics
import Crypto
import StoreProtocol

/// Makes temporary credentials and recognizes its own.
///
/// They are stateless: the security token is the claims and a MAC over them, and both the access key id and the secret
/// are derived from the claims, so that a token proves itself and nothing has to be looked up to verify a signature.
package struct CredentialIssuer: Sendable {
    /// Why a token is not taken.
    package enum Refusal: Error {
        /// Not a token of ours, or changed on the way.
        case malformedToken
        /// The token is ours, the access key id is not the one that was issued with it.
        case accessKeyMismatch
    }

    private enum Purpose: String {
        case token, secret, accessKey
    }

    private static let macSize = 32
    private static let nonceSize = 12

    private let keyring: Keyring
    /// The key that new credentials are made with; lower numbers go on verifying.
    private let keyNumber: UInt32
    /// The one of that number: most credentials are of the newest.
    private let newestKey: [UInt8]

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

    /// The claims of a token and the secret that goes with it. Whether they have expired is the caller's to ask, after
    /// the signature has proven the secret.
    package func verify(accessKeyID: String, token: String) throws(Refusal) -> (
        claims: CredentialClaims, secret: Secret
    ) {
        guard let bytes = Base64.decodeURL(token), bytes.count > Self.macSize else { throw .malformedToken }
        let statement = Array(bytes.dropLast(Self.macSize))
        guard let number = CredentialClaims.keyNumber(of: statement), (1...keyNumber).contains(number) else {
            throw .malformedToken
        }
        let key = number == keyNumber ? newestKey : keyring.key(.temporaryCredentials, number: number)
        guard constantTimeEqual(Self.derive(key, .token, statement), Array(bytes.suffix(Self.macSize))),
            let claims = CredentialClaims(decoding: statement)
        else { throw .malformedToken }
        guard constantTimeEqual(Array(Self.accessKeyID(key, statement).utf8), Array(accessKeyID.utf8)) else {
            throw .accessKeyMismatch
        }
        return (claims, Self.secret(key, statement))
    }

    private static func accessKeyID(_ key: [UInt8], _ statement: [UInt8]) -> String {
        "STS." + Hex.upper(derive(key, .accessKey, statement).prefix(12))
    }

    private static func secret(_ key: [UInt8], _ statement: [UInt8]) -> Secret {
        Secret(Base64.encodeURL(derive(key, .secret, statement)))
    }

    private static func derive(_ key: [UInt8], _ purpose: Purpose, _ statement: [UInt8]) -> [UInt8] {
        HMAC.sha256(key: key, Array(purpose.rawValue.utf8) + [0] + statement)
    }
}
