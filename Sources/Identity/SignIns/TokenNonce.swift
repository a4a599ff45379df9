import Basics
import Crypto

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
