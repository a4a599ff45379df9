import Basics
import Crypto
import GatewayProto
import Proto
import Synchronization

/// The session of a signed-in user in a browser.
final class Session: Sendable {
    /// The validity of the address of a download, in seconds.
    private static let ticketSeconds: Int64 = 60
    /// The largest number of objects that pages can read; another one replaces the oldest.
    private static let mostContents = 64
    /// The largest number of uploads whose credentials are kept; another one replaces the oldest.
    private static let mostUploads = 64

    /// The meaning of a text in an address.
    private struct Ticket<Value: Sendable>: Sendable {
        let digest: [UInt8]
        var value: Value
        let expiresAt: UnixTime

        init(_ text: String, _ value: Value, until expiresAt: UnixTime) {
            digest = SessionSecret.digest(text)
            self.value = value
            self.expiresAt = expiresAt
        }

        func matches(_ digest: [UInt8]) -> Bool { constantTimeEqual(self.digest, digest) }
    }

    let key: SessionKey
    let user: User
    let beganAt: UnixTime
    private let tokenDigest: [UInt8]
    private let tokens: Lock<UserTokens>
    /// The current ticket; a new one replaces it.
    private let ticket = Lock<Ticket<OfferedDownload>?>(nil)
    /// The objects that pages can read, the oldest first.
    private let contents = Lock<[Ticket<ContentGrant>]>([])
    /// The credentials of uploads, the oldest first.
    private let uploads = Lock<[UploadGrant]>([])

    init(key: SessionKey, tokenDigest: [UInt8], user: User, tokens: UserTokens, beganAt: UnixTime) {
        self.key = key
        self.tokenDigest = tokenDigest
        self.user = user
        self.tokens = Lock(tokens)
        self.beganAt = beganAt
    }

    /// Whether `token` proves that a request comes from a script of the console: other pages do not know it, nor does anyone who
    /// has only the cookie.
    func admits(token: String?) -> Bool {
        token.map { constantTimeEqual(SessionSecret.digest($0), tokenDigest) } ?? false
    }

    var refreshToken: Secret { tokens.withLock { $0.refresh } }

    /// Returns the user's access token, exchanged by `renew` if it expires soon.
    ///
    /// Other requests of the session wait meanwhile, each on its own connection's thread: a refresh token can be used once.
    func accessToken(
        at now: UnixTime, renew: (_ refreshToken: Secret, _ now: UnixTime) -> CallOutcome<UserTokens>
    ) -> CallOutcome<Secret> {
        tokens.withLock { tokens in
            if now < tokens.renewAt { return .answered(tokens.access) }
            switch renew(tokens.refresh, now) {
            case .refused(let response): return .refused(response)
            case .answered(let renewed):
                tokens = renewed
                return .answered(renewed.access)
            }
        }
    }

    /// - Returns: the ticket for the download, which is valid once and for a short time.
    func offer(_ download: OfferedDownload, at now: UnixTime) -> String {
        let text = SessionSecret.random()
        let ticket = Ticket(text, download, until: now.adding(seconds: Self.ticketSeconds))
        self.ticket.withLock { $0 = ticket }
        return text
    }

    func redeem(_ text: String, at now: UnixTime) -> OfferedDownload? {
        let digest = SessionSecret.digest(text)
        return ticket.withLock { ticket in
            guard let offered = ticket, offered.matches(digest) else { return nil }
            ticket = nil
            return now < offered.expiresAt ? offered.value : nil
        }
    }

    /// - Returns: the ticket for reading an object, which is valid any number of times.
    func admit(_ grant: ContentGrant, until expiresAt: UnixTime) -> String {
        let text = SessionSecret.random()
        let ticket = Ticket(text, grant, until: expiresAt)
        contents.withLock { contents in
            contents.append(ticket)
            if contents.count > Self.mostContents { contents.removeFirst() }
        }
        return text
    }

    func content(_ text: String, at now: UnixTime) -> ContentGrant? {
        let digest = SessionSecret.digest(text)
        return contents.withLock { contents in
            contents.first { $0.matches(digest) && now < $0.expiresAt }?.value
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

    /// Replaces what the ticket stands for, after its permission was renewed.
    func renew(_ text: String, _ grant: ContentGrant) {
        let digest = SessionSecret.digest(text)
        contents.withLock { contents in
            guard let index = contents.firstIndex(where: { $0.matches(digest) }) else { return }
            contents[index].value = grant
        }
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
    }

    private let user: Person
    private let deviceEndpoints: any Encodable & Sendable

    init(_ session: Session, deviceEndpoints: any Encodable & Sendable) {
        user = Person(
            organization: session.user.organization, userName: session.user.userName, role: session.user.role)
        self.deviceEndpoints = deviceEndpoints
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(user, forKey: .user)
        try container.encode(deviceEndpoints, forKey: .deviceEndpoints)
    }
}

/// The token that a session's scripts must send; returned once, when the session begins.
struct SessionGrant: Encodable {
    let token: String
}
