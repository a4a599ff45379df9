import Accounts
import Basics
package import Capability
import Crypto
package import Database
import FoundationEssentials
package import GatewayAPI
import Proto
import Synchronization

/// The sessions of the console: rows, limited in number and duration, that outlive the process.
///
/// A session is found by the digest of its cookie, and its tokens are encrypted, so the rows hold nothing that a browser could
/// present. It belongs to a session of its user: when that is revoked, it has ended with the next request.
package final class ConsoleSessions: Sendable {
    struct Opened {
        let session: Session
        /// The value for the browser; not stored.
        let cookie: String
        let token: String
    }

    /// The longest time between two records of a session's use.
    private static let useInterval = Duration.seconds(60)
    /// The number of sessions that a sweep ends in one transaction, during which other writes wait.
    private static let sweepBatch = 500

    let database: Database
    let secrets: SealedValues
    private let clockGuard: ClockGuard
    private let limits: LimitCounts
    let configuration: ConsoleConfiguration
    /// The sessions in use, so that the requests of a session share its tokens. The rows decide which ones are open.
    private let live = Lock<[SessionKey: Session]>([:])

    package init(_ environment: ModuleEnvironment, configuration: ConsoleConfiguration) {
        database = environment.database
        secrets = SealedValues(key: environment.keyring.key(.consoleSessions))
        clockGuard = environment.clockGuard
        limits = environment.limits
        self.configuration = configuration
    }

    /// Opens a session. If there is no place for it, another one ends: see ``SessionPlaces``.
    ///
    /// - Returns: `nil` if no session may end for it, or the user's session has ended meanwhile.
    func open(for user: User, _ tokens: UserTokens, at now: UnixTime) throws -> Opened? {
        let (cookie, token) = (SessionSecret.random(), SessionSecret.random())
        let key = SessionKey(cookie)
        let sealed = try seal(user, tokens, of: key)
        let permit = clockGuard.permit()
        let opened = try database.writeBlocking(mayUseReserve: true) {
            [configuration, limits] connection -> [[UInt8]]? in
            let records = ConsoleSessionRecords(connection)
            if let permit {
                try Self.endUnused(in: connection, limit: Self.sweepBatch, configuration, at: try permit.now())
            }
            let own = try records.sessionIDs(userID: user.userID)
            for id in own.prefix(max(0, own.count + 1 - configuration.maximumSessionsPerUser)) {
                try Accounts.endSession(id, in: connection)
            }
            guard let id = try Accounts.sessionID(ofRefreshToken: tokens.refresh, in: connection),
                let owner = try UserRecords(connection).find(id: user.userID)
            else { return nil }
            if try records.count() >= configuration.maximumSessions {
                limits.reached("console_sessions")
                let places = SessionPlaces(held: try records.countsOfOrganizations())
                guard let loser = places.loser(for: owner.organization.id, isSystem: owner.isSystem),
                    let ended = try records.leastRecentlyUsed(organizationID: loser)
                else { return nil }
                try Accounts.endSession(ended, in: connection)
            }
            try records.insert(
                ConsoleSessionRecord(
                    digest: key.digest, sessionID: id, userID: user.userID, tokenDigest: SessionSecret.digest(token),
                    sealed: sealed, beganAt: now, lastUsedAt: now))
            return try records.digests()
        }
        guard let opened else { return nil }
        let session = Session(
            key: key, tokenDigest: SessionSecret.digest(token), user: user, tokens: tokens, sealed: sealed,
            beganAt: now)
        live.withLock { live in
            let open = Set(opened)
            live = live.filter { open.contains($0.key.digest) }
            live[key] = session
        }
        return Opened(session: session, cookie: cookie, token: token)
    }

    /// - Parameters:
    ///   - cookie: the session's; `nil` = the request had none.
    ///   - isActivity: whether the request counts as activity; a page's periodic refresh does not.
    func session(cookie: String?, at now: UnixTime, isActivity: Bool) throws -> Session? {
        guard let cookie else { return nil }
        let key = SessionKey(cookie)
        let found = try database.readBlocking { try ConsoleSessionRecords($0).find(digest: key.digest) }
        guard let found, !hasEnded(found, at: now), let session = live(found, key) else {
            live.withLock { $0[key] = nil }
            return nil
        }
        session.noteUse(at: found.lastUsedAt)
        if isActivity, noteUse(of: found, at: now) { session.noteUse(at: now) }
        return session
    }

    /// Stores the tokens that replaced those of a session.
    func keep(_ tokens: UserTokens, of session: Session) throws {
        let sealed = try seal(session.user, tokens, of: session.key)
        let digest = session.key.digest
        try database.writeBlocking(mayUseReserve: true) {
            try ConsoleSessionRecords($0).replaceTokens(digest: digest, sealed: sealed)
        }
    }

    /// Ends a session, with all tokens of its sign-in.
    func end(_ session: Session) throws {
        live.withLock { $0[session.key] = nil }
        let digest = session.key.digest
        try database.writeBlocking(mayUseReserve: true) { connection in
            guard let found = try ConsoleSessionRecords(connection).find(digest: digest) else { return }
            try Accounts.endSession(found.sessionID, in: connection)
        }
    }

    /// Ends sessions that nobody used for too long.
    ///
    /// - Returns: the number of ended sessions.
    func sweep(_ permit: DeletionPermit) async throws -> Int {
        let (ended, open) = try await database.write(mayUseReserve: true) { [configuration] connection in
            let ended = try Self.endUnused(
                in: connection, limit: Self.sweepBatch, configuration, at: try permit.now())
            return (ended, Set(try ConsoleSessionRecords(connection).digests()))
        }
        live.withLock { live in live = live.filter { open.contains($0.key.digest) } }
        return ended
    }

    @discardableResult
    private static func endUnused(
        in connection: Connection, limit: Int, _ configuration: ConsoleConfiguration, at now: UnixTime
    ) throws -> Int {
        let ended = try ConsoleSessionRecords(connection).ended(
            unusedSince: now.subtracting(configuration.sessionIdle),
            begunBefore: now.subtracting(configuration.sessionTotal), limit: limit)
        for id in ended { try Accounts.endSession(id, in: connection) }
        return ended.count
    }

    /// Returns the session in use with the latest tokens, or makes it from its row; `nil` if the row cannot be decrypted.
    private func live(_ found: ConsoleSessionRecord, _ key: SessionKey) -> Session? {
        if let session = live.withLock({ $0[key] }) {
            session.update(from: found.sealed) { stored(found, key)?.tokens }
            return session
        }
        guard let stored = stored(found, key) else { return nil }
        let session = Session(
            key: key, tokenDigest: found.tokenDigest, user: stored.user, tokens: stored.tokens, sealed: found.sealed,
            beganAt: found.beganAt)
        return live.withLock { live in
            // Another request of the session may have been faster.
            if let earlier = live[key] { return earlier }
            live[key] = session
            return session
        }
    }

    private func stored(_ found: ConsoleSessionRecord, _ key: SessionKey) -> SealedSession? {
        secrets.open(found.sealed, of: key.digest).flatMap {
            try? JSONDecoder().decode(SealedSession.self, from: Data($0))
        }
    }

    /// - Returns: whether the use is recorded; that of a while ago is enough.
    private func noteUse(of found: ConsoleSessionRecord, at now: UnixTime) -> Bool {
        let interval = min(Self.useInterval, configuration.sessionIdle / 10)
        guard now >= found.lastUsedAt.adding(interval) else { return false }
        let digest = found.digest
        // Nobody waits for it: if it fails, the session ends earlier.
        database.submit(
            mayUseReserve: true, { try ConsoleSessionRecords($0).noteUse(digest: digest, at: now) }, reply: { _ in })
        return true
    }

    private func seal(_ user: User, _ tokens: UserTokens, of key: SessionKey) throws -> [UInt8] {
        secrets.seal(Array(try JSONEncoder().encode(SealedSession(user, tokens))), of: key.digest)
    }

    private func hasEnded(_ found: ConsoleSessionRecord, at now: UnixTime) -> Bool {
        now >= found.lastUsedAt.adding(configuration.sessionIdle)
            || now >= found.beganAt.adding(configuration.sessionTotal)
    }
}

extension ConsoleSessions: Capability {
    package static var migrations: [Migration] { ConsoleSessionSchema.migrations }

    package static var settings: (any CapabilitySettings.Type)? { ConsoleConfiguration.self }

    package var sweeps: [Sweep] { [Sweep("sessions", run: sweep)] }
}

/// The places for sessions of the console, which organizations share.
///
/// A sign-in without a free place takes that of the organization with the most sessions. So an organization whose users sign in all the
/// time loses its own sessions, and nobody else's.
struct SessionPlaces {
    /// The number of sessions of each organization that has any.
    let held: [Int64: Int]

    /// Returns the organization that loses a session for a sign-in; `nil` if none may: each has one, and a further organization wants
    /// its first.
    ///
    /// - Parameters:
    ///   - organizationID: the organization of the user who signs in.
    ///   - isSystem: whether it is SYSTEM, whose users can always sign in.
    func loser(for organizationID: Int64, isSystem: Bool) -> Int64? {
        let own = held[organizationID, default: 0]
        guard let most = held.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }) else { return nil }
        // Organizations with equal numbers do not take each other's places.
        if most.value > own + 1 { return most.key }
        if own > 0 { return organizationID }
        return isSystem ? most.key : nil
    }
}
