import Basics
import Crypto
import GatewayProto
import Proto
import Synchronization

/// The session of a signed-in user in a browser.
final class Session: Sendable {
    /// The largest number of objects whose permissions are kept; another one replaces the oldest.
    private static let mostContents = 64
    /// The largest number of uploads whose credentials are kept; another one replaces the oldest.
    private static let mostUploads = 64

    /// The tokens, and the row that they were compared with last.
    private struct Held {
        var tokens: UserTokens
        var sealed: [UInt8]
    }

    let key: SessionKey
    let user: User
    let beganAt: UnixTime
    private let tokenDigest: [UInt8]
    private let tokens: Lock<Held>
    /// The last use that its row had when it was read last.
    private let lastUsedAt: Lock<UnixTime>
    /// The permissions to read objects, by the digests of their addresses, the oldest first.
    private let contents = Lock<[(digest: [UInt8], grant: ContentGrant)]>([])
    /// The credentials of uploads, the oldest first.
    private let uploads = Lock<[UploadGrant]>([])

    /// - Parameter sealed: the encrypted part of its row.
    init(
        key: SessionKey, tokenDigest: [UInt8], user: User, tokens: UserTokens, sealed: [UInt8], beganAt: UnixTime
    ) {
        self.key = key
        self.tokenDigest = tokenDigest
        self.user = user
        self.tokens = Lock(Held(tokens: tokens, sealed: sealed))
        self.beganAt = beganAt
        lastUsedAt = Lock(beganAt)
    }

    /// Notes a use of the session.
    func noteUse(at time: UnixTime) { lastUsedAt.withLock { $0 = max($0, time) } }

    /// Returns the times after which the session ends.
    func remaining(_ configuration: ConsoleConfiguration, at now: UnixTime) -> SessionRemainder {
        let lastUsedAt = lastUsedAt.withLock { $0 }
        return SessionRemainder(
            total: beganAt.adding(configuration.sessionTotal).duration(since: now),
            idle: lastUsedAt.adding(configuration.sessionIdle).duration(since: now))
    }

    /// Whether `token` proves that a request comes from a script of the console: other pages do not know it, nor does anyone who
    /// has only the cookie.
    func admits(token: String?) -> Bool {
        token.map { constantTimeEqual(SessionSecret.digest($0), tokenDigest) } ?? false
    }

    var refreshToken: Secret { tokens.withLock { $0.tokens.refresh } }

    /// Returns the user's access token, exchanged by `renew` if it expires soon.
    ///
    /// Other requests of the session wait meanwhile, each on its own connection's thread: a refresh token can be used once.
    func accessToken(
        at now: UnixTime, renew: (_ refreshToken: Secret, _ now: UnixTime) -> CallOutcome<UserTokens>
    ) -> CallOutcome<Secret> {
        tokens.withLock { held in
            if now < held.tokens.renewAt { return .answered(held.tokens.access) }
            switch renew(held.tokens.refresh, now) {
            case .refused(let response): return .refused(response)
            case .answered(let renewed):
                held.tokens = renewed
                return .answered(renewed.access)
            }
        }
    }

    /// Uses the tokens of the row if they are later than these: another gateway has renewed them, and the refresh token here can be used
    /// no more.
    ///
    /// - Parameters:
    ///   - sealed: the encrypted part of the row.
    ///   - open: decrypts it.
    func update(from sealed: [UInt8], open: () -> UserTokens?) {
        tokens.withLock { held in
            guard sealed != held.sealed else { return }
            held.sealed = sealed
            // A row that was read before these tokens were stored is earlier.
            if let stored = open(), stored.renewAt > held.tokens.renewAt { held.tokens = stored }
        }
    }

    /// Keeps the permission to read an object, instead of an earlier one.
    ///
    /// - Parameter address: the text of its address.
    func keep(_ grant: ContentGrant, for address: String) {
        let digest = SessionSecret.digest(address)
        contents.withLock { contents in
            contents.removeAll { $0.digest == digest }
            contents.append((digest, grant))
            if contents.count > Self.mostContents { contents.removeFirst() }
        }
    }

    /// Returns the permission to read an object; `nil` if it is missing, or has to be renewed.
    func grant(for address: String, at now: UnixTime) -> ContentGrant? {
        let digest = SessionSecret.digest(address)
        return contents.withLock { contents in
            contents.first { $0.digest == digest && now < $0.grant.renewAt }?.grant
        }
    }

    /// Keeps the credentials of an upload, instead of earlier ones.
    func admit(_ grant: UploadGrant) {
        uploads.withLock { uploads in
            uploads.removeAll { $0.uploadID == grant.uploadID }
            uploads.append(grant)
            if uploads.count > Self.mostUploads { uploads.removeFirst() }
        }
    }

    func upload(_ id: String, at now: UnixTime) -> UploadGrant? {
        uploads.withLock { $0.first { $0.uploadID == id } }.flatMap { $0.isUsable(at: now) ? $0 : nil }
    }
}

/// The secrets of a session, its cookie and its token: 256 random bits each. The gateway keeps only their digests.
enum SessionSecret {
    static func random() -> String { Base64.encodeURL(Random.bytes(32)) }

    static func digest(_ text: String) -> [UInt8] { Digest.sha256(Array(text.utf8)) }
}

/// The digest of a session's cookie.
struct SessionKey: Hashable, Sendable {
    let digest: [UInt8]

    init(_ cookie: String) {
        digest = SessionSecret.digest(cookie)
    }
}

/// The cookie of a session: for this host only, not readable by scripts, and not sent with requests of other sites (RFC 6265bis,
/// sections 4.1.3 and 5.5). Browsers accept it over TLS; Chromium and Firefox accept it from loopback without TLS.
enum SessionCookie {
    static let name = "__Host-console"

    static func set(_ value: String) -> String { "\(name)=\(value); \(attributes)" }

    static let removal = "\(name)=; Max-Age=0; \(attributes)"

    private static let attributes = "Path=/; Secure; HttpOnly; SameSite=Strict"
}

/// The times after which a session ends.
struct SessionRemainder: Sendable, Hashable {
    /// The time that no activity prolongs.
    var total: Duration
    /// The time without activity.
    var idle: Duration
}

/// The description of a session for its pages.
struct SessionDescription: Encodable {
    private struct Person: Encodable {
        let organization: String
        let userName: String
        let role: String
    }

    private enum Key: CodingKey {
        case user
        case deviceEndpoints
        case secondsLeft
        case idleSecondsLeft
    }

    private let user: Person
    private let deviceEndpoints: any Encodable & Sendable
    private let remaining: SessionRemainder

    /// - Parameter remaining: the times after which the session ends.
    init(_ session: Session, deviceEndpoints: any Encodable & Sendable, remaining: SessionRemainder) {
        user = Person(
            organization: session.user.organization, userName: session.user.userName, role: session.user.role)
        self.deviceEndpoints = deviceEndpoints
        self.remaining = remaining
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(user, forKey: .user)
        try container.encode(deviceEndpoints, forKey: .deviceEndpoints)
        try container.encode(max(0, remaining.total.wholeSeconds), forKey: .secondsLeft)
        try container.encode(max(0, remaining.idle.wholeSeconds), forKey: .idleSecondsLeft)
    }
}

/// The token that a session's scripts must send; returned once, when the session begins.
struct SessionGrant: Encodable {
    let token: String
}
