import Basics
import Crypto

/// A sign-in in progress in a browser. The gateway keeps nothing of it: the provider sends its sealed form back as `state`.
struct SignInFlow: Sendable, Equatable {
    let provider: String
    let redirectURI: String
    /// The secret of the proof key (RFC 7636).
    let codeVerifier: String
    /// The nonce that the identity token must have.
    let nonce: String
    /// The digest of the secret that the client keeps, so that no other client can complete the sign-in.
    let clientDigest: [UInt8]
    let expiresAt: UnixTime

    private static let longestState = 4096

    /// Returns the sealed form.
    ///
    /// - Parameter key: 32 bytes.
    func sealed(_ key: [UInt8]) -> String {
        let fields = [
            provider, redirectURI, codeVerifier, nonce, Hex.lower(clientDigest), "\(expiresAt.microseconds)",
        ]
        let nonce = Random.bytes(AES256GCM.nonceCount)
        let plain = Array(fields.joined(separator: "\n").utf8)
        return Base64.encodeURL(nonce + AES256GCM.seal(plain, key: key, nonce: nonce))
    }

    /// Opens a sealed sign-in; `nil` for any other text.
    init?(sealed text: String, key: [UInt8]) {
        guard text.utf8.count <= Self.longestState, let bytes = Base64.decodeURL(text),
            bytes.count > AES256GCM.nonceCount,
            let plain = AES256GCM.open(
                Array(bytes[AES256GCM.nonceCount...]), key: key, nonce: Array(bytes[..<AES256GCM.nonceCount]))
        else { return nil }
        let fields = String(decoding: plain, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
        guard fields.count == 6, let digest = Hex.decode(fields[4]), let expiry = Int64(fields[5]) else { return nil }
        self.init(
            provider: fields[0], redirectURI: fields[1], codeVerifier: fields[2], nonce: fields[3],
            clientDigest: digest, expiresAt: UnixTime(microseconds: expiry))
    }

    init(
        provider: String, redirectURI: String, codeVerifier: String, nonce: String, clientDigest: [UInt8],
        expiresAt: UnixTime
    ) {
        self.provider = provider
        self.redirectURI = redirectURI
        self.codeVerifier = codeVerifier
        self.nonce = nonce
        self.clientDigest = clientDigest
        self.expiresAt = expiresAt
    }

    /// The challenge for the provider (RFC 7636, section 4.2, S256).
    var codeChallenge: String { Base64.encodeURL(Digest.sha256(Array(codeVerifier.utf8))) }
}
