import Basics
import Crypto
import Database
import GatewayAPI
import GatewayFormats
import RPC
import Synchronization

/// A key pair that signs access tokens.
struct SigningKey: Sendable {
    /// The `kid`: the key's JWK thumbprint (RFC 7638), base64url.
    let id: String
    let key: ES256Key
    /// The time at which the last token that it signed expires; `nil` for the current signing key.
    let endsAt: UnixTime?
    private let x: String
    private let y: String

    init(_ key: ES256Key, endsAt: UnixTime? = nil) {
        let point = key.publicCoordinates
        x = Base64.encodeURL(point.x)
        y = Base64.encodeURL(point.y)
        // RFC 7638, section 3.2: the required members in lexicographic order, without whitespace.
        let members = #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#
        id = Base64.encodeURL(Digest.sha256(Array(members.utf8)))
        self.key = key
        self.endsAt = endsAt
    }

    /// Whether the key verifies tokens, and is therefore published.
    func verifies(at now: UnixTime) -> Bool {
        endsAt.map { now < $0 } ?? true
    }

    /// The public key as a JWK (RFC 7517, section 4; RFC 7518, section 6.2.1).
    var publicKey: String {
        FlatJSON.encode([
            ("kty", .text("EC")), ("crv", .text("P-256")), ("x", .text(x)), ("y", .text(y)), ("kid", .text(id)),
            ("use", .text("sig")), ("alg", .text("ES256")),
        ])
    }
}

/// The keys that verify tokens, one of which signs.
struct SigningKeys: Sendable {
    let current: SigningKey
    /// The former signing keys, which verify until they expire.
    let older: [SigningKey]

    init(current: SigningKey, older: [SigningKey] = []) {
        self.current = current
        self.older = older
    }
}

/// The signing keys.
extension Accounts {
    /// The public keys that verify access tokens now, as a JWK Set (RFC 7517, section 5).
    package var publicKeys: String { tokens.publicKeys(at: clock.now()) }

    /// Rotates the token-signing key.
    func rotateSigningKey(by caller: Caller) async throws -> SigningKeys {
        let now = clock.now()
        let pending = try signingKeys.makePending()
        defer { signingKeys.discard(pending) }
        let outcome = Lock<Result<SigningKeys, any Error>?>(nil)
        try await database.write { [tokens, signingKeys, clockGuard = environment.clockGuard] connection in
            try Audit.record(caller.did(to: "signingKeys/\(pending.key.id)"), at: now, in: connection)
            // Commits are sequential, and therefore rotations too.
            connection.afterCommit {
                let keys = Result { try signingKeys.activate(pending, at: now, clockGuard.permit()) }
                if case .success(let keys) = keys { tokens.use(keys) }
                outcome.withLock { $0 = keys }
            }
        }
        guard let keys = outcome.withLock({ $0 }) else { throw RPCError(.internalError, "the gateway failed") }
        return try keys.get()
    }
}
