import Basics
import Proto

/// The sessions of the console: in memory only, limited in number and duration.
///
/// A session is found by the digest of its cookie, so the table holds nothing that a browser could present.
final class SessionTable: Sendable {
    struct Opened {
        let session: Session
        /// The value for the browser; not stored.
        let cookie: String
        let token: String
    }

    private struct Entry {
        let session: Session
        var lastUsedAt: UnixTime
    }

    private let configuration: ConsoleConfiguration
    private let entries = Lock<[SessionKey: Entry]>([:])

    init(_ configuration: ConsoleConfiguration) {
        self.configuration = configuration
    }

    /// - Returns: `nil` if the largest number of sessions is reached.
    func open(for user: User, _ tokens: UserTokens, at now: UnixTime) -> Opened? {
        let (cookie, token) = (SessionSecret.random(), SessionSecret.random())
        let session = Session(
            key: SessionKey(cookie), tokenDigest: SessionSecret.digest(token), user: user, tokens: tokens, beganAt: now)
        return entries.withLock { entries in
            entries = entries.filter { !hasEnded($0.value, at: now) }
            let own = entries.values.filter { $0.session.user.userID == user.userID }
            if own.count >= configuration.maximumSessionsPerUser,
                let oldest = own.min(by: { $0.session.beganAt < $1.session.beganAt })
            {
                entries[oldest.session.key] = nil
            }
            guard entries.count < configuration.maximumSessions else { return nil }
            entries[session.key] = Entry(session: session, lastUsedAt: now)
            return Opened(session: session, cookie: cookie, token: token)
        }
    }

    /// - Parameters:
    ///   - cookie: the session's; `nil` = the request had none.
    ///   - isActivity: whether the request counts as activity; a page's periodic refresh does not.
    func session(cookie: String?, at now: UnixTime, isActivity: Bool) -> Session? {
        guard let cookie else { return nil }
        let key = SessionKey(cookie)
        return entries.withLock { entries in
            guard let entry = entries[key] else { return nil }
            guard !hasEnded(entry, at: now) else {
                entries[key] = nil
                return nil
            }
            if isActivity { entries[key]?.lastUsedAt = now }
            return entry.session
        }
    }

    func end(_ session: Session) {
        entries.withLock { $0[session.key] = nil }
    }

    private func hasEnded(_ entry: Entry, at now: UnixTime) -> Bool {
        now >= entry.lastUsedAt.adding(configuration.sessionIdle)
            || now >= entry.session.beganAt.adding(configuration.sessionTotal)
    }
}
