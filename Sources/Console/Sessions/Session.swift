import Basics
import Crypto
import Proto

/// The session of a signed-in user in a browser.
final class Session: Sendable {
    /// The validity of the address of a backup, in seconds.
    private static let ticketSeconds: Int64 = 60

    private struct Ticket {
        let digest: [UInt8]
        let options: BackupOptions
        let expiresAt: UnixTime
    }

    let key: SessionKey
    let user: User
    let beganAt: UnixTime
    private let tokenDigest: [UInt8]
    private let tokens: Lock<UserTokens>
    /// The current ticket; a new one replaces it.
    private let ticket = Lock<Ticket?>(nil)

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

    /// - Returns: the ticket for the backup, which is valid once and for a short time.
    func offer(_ options: BackupOptions, at now: UnixTime) -> String {
        let text = SessionSecret.random()
        let ticket = Ticket(
            digest: SessionSecret.digest(text), options: options,
            expiresAt: now.adding(seconds: Self.ticketSeconds))
        self.ticket.withLock { $0 = ticket }
        return text
    }

    func redeem(_ text: String, at now: UnixTime) -> BackupOptions? {
        ticket.withLock { ticket in
            guard let offered = ticket, constantTimeEqual(offered.digest, SessionSecret.digest(text)) else {
                return nil
            }
            ticket = nil
            return now < offered.expiresAt ? offered.options : nil
        }
    }
}
