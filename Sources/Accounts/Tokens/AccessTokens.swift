import Basics
import Crypto

/// Issues access tokens, and remembers those whose signature was found right: an ES256 verification costs 80 µs, a look
/// here one.
///
/// Two generations: when the young one is full it becomes the old one, so at most `capacity` tokens are kept and those
/// in use stay. Whether a token was revoked is asked of the database at every call, never of this cache.
final class AccessTokens: Sendable {
    private struct Generations {
        var young: [[UInt8]: AccessToken] = [:]
        var old: [[UInt8]: AccessToken] = [:]
    }

    private let signer: Lock<TokenSigner>
    private let lifetimeSeconds: Int64
    private let capacity: Int
    private let generations = Lock(Generations())

    init(signer: TokenSigner, lifetimeSeconds: Int64, capacity: Int) {
        self.signer = Lock(signer)
        self.lifetimeSeconds = lifetimeSeconds
        self.capacity = capacity
    }

    /// A token that begins now.
    func issue(
        _ kind: TokenKind, subject: String, epoch: Int64, at now: UnixTime
    ) -> (text: String, expiresAt: UnixTime) {
        let expiresAt = UnixTime(seconds: now.seconds).adding(seconds: lifetimeSeconds)
        let token = AccessToken(kind: kind, subject: subject, epoch: epoch, expiresAt: expiresAt)
        return (currentSigner.issue(token, at: now), expiresAt)
    }

    /// What `text` says, if one of our keys signed it and it holds at `now`.
    func verify(_ text: String, at now: UnixTime) -> AccessToken? {
        guard text.utf8.count <= TokenSigner.maximumLength else { return nil }
        // By digest, so that what lies here cannot be sent to anybody.
        let digest = Digest.sha256(Array(text.utf8))
        let known = generations.withLock { generations -> AccessToken? in
            if let token = generations.young[digest] { return token }
            guard let token = generations.old[digest] else { return nil }
            Self.keep(token, digest, capacity, &generations)
            return token
        }
        if let known { return now < known.expiresAt ? known : nil }
        guard let token = currentSigner.verify(text, at: now) else { return nil }
        generations.withLock { Self.keep(token, digest, capacity, &$0) }
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
        generations.withLock { $0.young.count + $0.old.count }
    }

    private static func keep(
        _ token: AccessToken, _ digest: [UInt8], _ capacity: Int, _ generations: inout Generations
    ) {
        if generations.young.count >= capacity / 2 {
            generations.old = generations.young
            generations.young = [:]
        }
        generations.young[digest] = token
    }
}
