import Basics
import Crypto

/// The token of an invitation: `dgwi_` and 256 random bits in Base64 for addresses. Only a keyed digest is stored, by which the
/// invitation is found.
struct InvitationToken: Sendable {
    private static let prefix = TokenPrefix.invitation.rawValue
    private static let secretLength = 32

    private let secret: Secret

    /// Makes a new token.
    init() {
        secret = Secret(Random.bytes(Self.secretLength))
    }

    /// Parses a token; `nil` for any text that was not made as one.
    init?(text: String) {
        guard text.hasPrefix(Self.prefix), text.utf8.count < 64,
            let bytes = Base64.decodeURL(String(text.dropFirst(Self.prefix.count))), bytes.count == Self.secretLength
        else { return nil }
        secret = Secret(bytes)
    }

    /// The text for the inviter, which is shown only once.
    var text: String { Self.prefix + Base64.encodeURL(secret.exposed) }

    /// Returns the digest that is stored.
    func digest(pepper: [UInt8]) -> [UInt8] {
        HMAC.sha256(key: pepper, Array("invitation ".utf8) + secret.exposed)
    }
}
