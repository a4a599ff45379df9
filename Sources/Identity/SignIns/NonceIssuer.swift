import Basics
import Crypto

/// Nonces for identity tokens. They prove themselves by a MAC, so that strangers can ask for any number of them.
struct NonceIssuer: Sendable {
    private static let macLength = 16
    private static let randomLength = 16

    let key: [UInt8]
    let lifetime: Duration

    /// Returns a nonce for one provider: 16 random bytes, the second at which it expires, and a MAC, in Base64url.
    func make(for provider: String, at now: UnixTime) -> String {
        let expiry = UInt64(clamping: now.adding(lifetime).seconds)
        let content = Random.bytes(Self.randomLength) + expiry.bigEndianBytes
        return Base64.encodeURL(content + mac(content, provider))
    }

    /// Returns the time at which a nonce of this issuer expires; `nil` for any other text, and for a nonce that has expired.
    func expiry(of nonce: String, for provider: String, at now: UnixTime) -> UnixTime? {
        guard let bytes = Base64.decodeURL(nonce), bytes.count == Self.randomLength + 8 + Self.macLength else {
            return nil
        }
        let content = Array(bytes.dropLast(Self.macLength))
        guard constantTimeEqual(Array(bytes.suffix(Self.macLength)), mac(content, provider)) else { return nil }
        let seconds = UInt64(bigEndianBytes: content[Self.randomLength...])
        let expiresAt = UnixTime(seconds: Int64(clamping: seconds))
        return now < expiresAt ? expiresAt : nil
    }

    private func mac(_ content: [UInt8], _ provider: String) -> [UInt8] {
        Array(HMAC.sha256(key: key, content + Array(provider.utf8)).prefix(Self.macLength))
    }
}

/// The comparison of a request's nonce with the token's.
enum TokenNonce {
    /// Whether they fit: the token has the nonce itself, or its SHA-256 in lower-case hexadecimal digits, as apps give it to Apple.
    ///
    /// - Parameters:
    ///   - given: the request's; empty = none.
    ///   - claimed: the token's; `nil` = none.
    static func matches(_ given: String, _ claimed: String?) -> Bool {
        guard let claimed else { return given.isEmpty }
        let hashed = Hex.lower(Digest.sha256(Array(given.utf8)))
        return !given.isEmpty
            && (constantTimeEqual(Array(claimed.utf8), Array(given.utf8))
                || constantTimeEqual(Array(claimed.utf8), Array(hashed.utf8)))
    }
}
