import Basics
import Crypto

/// Issues access tokens, and remembers those whose signature was found right: an ES256 verification costs 80 µs, a look
/// here one.
///
/// Whether a token was revoked is asked of the database at every call, never of this cache.
final class AccessTokens: Sendable {
    private let signer: Lock<TokenSigner>
    private let lifetime: Duration
    /// By digest, so that what lies here cannot be sent to anybody.
    private let known: Lock<GenerationCache<[UInt8], AccessToken>>

    init(signer: TokenSigner, lifetime: Duration, capacity: Int) {
        self.signer = Lock(signer)
        self.lifetime = lifetime
        known = Lock(GenerationCache(capacity: capacity))
    }

    /// A token that begins now.
    func issue(
        _ kind: TokenKind, subject: String, epoch: Int64, at now: UnixTime
    ) -> (text: String, expiresAt: UnixTime) {
        let expiresAt = UnixTime(seconds: now.seconds).adding(lifetime)
        let token = AccessToken(kind: kind, subject: subject, epoch: epoch, expiresAt: expiresAt)
        return (currentSigner.issue(token, at: now), expiresAt)
    }

    /// What `text` says, if one of our keys signed it and it holds at `now`.
    func verify(_ text: String, at now: UnixTime) -> AccessToken? {
        guard text.utf8.count <= TokenSigner.maximumLength else { return nil }
        let digest = Digest.sha256(Array(text.utf8))
        if let token = known.withLock({ $0.find(digest) }) { return now < token.expiresAt ? token : nil }
        guard let token = currentSigner.verify(text, at: now) else { return nil }
        known.withLock { $0.keep(token, for: digest) }
        return token
    }

    /// Has other keys sign and verify from now on.
    func use(_ keys: SigningKeys) {
        signer.withLock { $0 = TokenSigner(keys: keys) }
    }

    /// See ``TokenSigner/publicKeys(at:)``.
    func publicKeys(at now: UnixTime) -> String {
        currentSigner.publicKeys(at: now)
    }

    /// Taken out of its lock, so that signatures are made and verified beside each other.
    private var currentSigner: TokenSigner { signer.withLock { $0 } }

    /// How many are remembered now.
    var count: Int {
        known.withLock { $0.count }
    }
}
