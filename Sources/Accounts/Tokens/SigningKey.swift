import Basics
import Crypto
import Database
import GatewayAPI
import GatewayFormats
import RPC

/// A key pair that signs access tokens.
struct SigningKey: Sendable {
    /// The `kid`: the key's JWK thumbprint (RFC 7638), base64url.
    let id: String
    let key: ES256Key
    /// The time since which it signs; before it only verifies.
    let signsFrom: UnixTime
    /// The time at which the last token that it signed expires; `nil` for the latest signing key.
    let endsAt: UnixTime?
    private let x: String
    private let y: String

    init(_ key: ES256Key, signsFrom: UnixTime = UnixTime(seconds: 0), endsAt: UnixTime? = nil) {
        let point = key.publicCoordinates
        x = Base64.encodeURL(point.x)
        y = Base64.encodeURL(point.y)
        // RFC 7638, section 3.2: the required members in lexicographic order, without whitespace.
        let members = #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#
        id = Base64.encodeURL(Digest.sha256(Array(members.utf8)))
        self.key = key
        self.signsFrom = signsFrom
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
    /// All keys, in the order in which they sign; never empty.
    let all: [SigningKey]
    /// The number of the latest key: keys with a lower one were read before.
    let number: Int64

    init(_ all: [SigningKey], number: Int64 = 0) {
        self.all = all
        self.number = number
    }

    /// The key that signs last of all.
    var latest: SigningKey { all[all.count - 1] }

    /// Returns the key that signs.
    func signing(at now: UnixTime) -> SigningKey { all.last { $0.signsFrom <= now } ?? all[0] }
}

/// The signing keys.
extension Accounts {
    /// The public keys that verify access tokens now, as a JWK Set (RFC 7517, section 5).
    package var publicKeys: String { tokens.publicKeys(at: clock.now()) }

    /// The time for which a new key only verifies, if several gateways have it: each reads the keys once a minute.
    static let publication = Duration.seconds(120)

    /// Rotates the token-signing key.
    func rotateSigningKey(by caller: Caller) async throws -> SigningKeys {
        let (now, key) = (clock.now(), SigningKey(ES256Key()))
        let signsFrom = environment.hasReplicas ? now.adding(Self.publication) : now
        return try await database.write { [tokens, signingKeys, clockGuard = environment.clockGuard] connection in
            try Audit.record(caller.did(to: "signingKeys/\(key.id)"), at: now, in: connection)
            let keys = try signingKeys.add(key.key, signsFrom: signsFrom, in: connection, clockGuard.permit())
            // Commits are sequential, and therefore rotations too.
            connection.afterCommit { tokens.use(keys) }
            return keys
        }
    }
}
