import Basics
import Crypto
import Proto

/// A browser in which somebody is signed in.
final class Session: Sendable {
    /// How long an address of a backup can be used, in seconds.
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
    /// One at a time: a new one takes the place of the one before.
    private let ticket = Lock<Ticket?>(nil)

    init(key: SessionKey, tokenDigest: [UInt8], user: User, tokens: UserTokens, beganAt: UnixTime) {
        self.key = key
        self.tokenDigest = tokenDigest
        self.user = user
        self.tokens = Lock(tokens)
        self.beganAt = beganAt
    }

    /// Whether a script that shows `token` is the console's: other pages, and whoever has the cookie only, do not know it.
    func admits(token: String?) -> Bool {
        token.map { constantTimeEqual(SessionSecret.digest($0), tokenDigest) } ?? false
    }

    var refreshToken: Secret { tokens.withLock { $0.refresh } }

    /// The user's access token, exchanged for a new one by `renew` where it nears its end.
    ///
    /// Others of the same session wait meanwhile, each on its own connection's thread: a refresh token is good once.
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

    /// - Returns: what redeems the backup, once and soon.
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
