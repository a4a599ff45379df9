import Basics
import Crypto
import Database
import GatewayAPI
import Proto
import RPC

/// Sites, API keys, organizations, users, tokens and the audit log: identities and their rights.
package final class Accounts: Sendable {
    package static var migrations: [Migration] { AccountRecords.migrations }

    /// The interceptor that has to precede the calls of every listener.
    package let authenticator: Authenticator
    /// The callers for each method of the listeners.
    package var access: AccessTable { authenticator.access }
    /// The part of key and site management that the device registry uses.
    package let deviceKeys: DeviceKeys
    /// The records that are written once a minute. Flush it before the database closes.
    package let deferred: DeferredRecords

    /// The removal of users, which other modules can observe.
    package let userRemoval = UserRemoval()

    let keyExchange: KeyExchange
    let sessions: Sessions
    let ownSessions: OwnSessions
    let ownAccount: OwnAccount
    let apiTokens: APITokens
    let policies: SignInPolicies
    let systemCredentials: SystemCredentials
    let sites: SiteRegistry
    let keys: APIKeyRegistry
    let users: UserRegistry
    let tokens: AccessTokens
    private let signingKeys: SigningKeyFolder
    /// Limits the callers of organizations that have too many audit lines.
    package let auditPressure: AuditPressure
    private let auditRetention: AuditRetention
    private let pageTokens: PageTokens
    let clock: any WallClock
    private let clockGuard: ClockGuard
    private let database: Database
    private let passwords: Passwords
    private let expiredTokenRetention: Duration

    /// - Parameters:
    ///   - keysDirectory: the folder of the signing keys, which also contains the keyring's root; the first key is made if there is
    ///     none.
    ///   - access: the callers for each method of the listeners.
    package init(
        _ environment: ModuleEnvironment, keysDirectory: String, access: AccessTable = .gateway,
        configuration: AccountsConfiguration = AccountsConfiguration()
    ) throws {
        let (database, clock, clockGuard) = (environment.database, environment.clock, environment.clockGuard)
        let (identifiers, log) = (environment.identifiers, environment.log)
        let pepper = environment.keyring.key(.pepper)
        self.database = database
        self.clock = clock
        self.clockGuard = clockGuard
        signingKeys = SigningKeyFolder(path: keysDirectory, lifetime: configuration.accessTokenLifetime)
        tokens = AccessTokens(
            signer: TokenSigner(keys: try signingKeys.open(clockGuard.permit())),
            lifetime: configuration.accessTokenLifetime,
            capacity: configuration.rememberedTokens)
        auditPressure = AuditPressure(
            callsPerMinute: configuration.auditedCallsUnderPressure, maximumLines: configuration.auditLines,
            clock: clock,
            log: log)
        auditRetention = AuditRetention(
            database: database, clock: clock, age: configuration.auditRetention,
            minimumAge: configuration.minimumAuditRetention, maximumLines: configuration.auditLines,
            pressure: auditPressure)
        pageTokens = PageTokens(keyring: environment.keyring)
        let deferred = DeferredRecords(database: database)
        self.deferred = deferred
        passwords = Passwords(capacity: configuration.waitingPasswords)
        authenticator = Authenticator(
            database: database, tokens: tokens, deferred: deferred, clock: clock, auditPressure: auditPressure,
            access: access, pepper: pepper)
        let failures = LoginFailures(configuration)
        let secondFactors = SecondFactors(environment.keyring, configuration: configuration)
        deviceKeys = DeviceKeys(identifiers: identifiers, pepper: pepper)
        func check(_ action: String) -> CredentialCheck {
            CredentialCheck(
                action: action, pepper: pepper,
                wrongSecrets: Throttle(perMinute: configuration.wrongCredentialsOfKey), deferred: deferred)
        }
        keyExchange = KeyExchange(
            database: database, tokens: tokens, deferred: deferred, check: check("ExchangeCredential"))
        sessions = Sessions(
            database: database, passwords: passwords, identifiers: identifiers, deferred: deferred, pepper: pepper,
            configuration: configuration, clockGuard: clockGuard, failures: failures,
            auditPressure: auditPressure, secondFactors: secondFactors)
        ownSessions = OwnSessions(database: database, clock: clock)
        ownAccount = OwnAccount(
            database: database, clock: clock, passwords: passwords, failures: failures, secondFactors: secondFactors,
            deferred: deferred)
        apiTokens = APITokens(
            database: database, clock: clock, pepper: pepper, maximum: configuration.apiTokensOfUser,
            lifetime: configuration.apiTokenLifetime)
        policies = SignInPolicies(database: database, clock: clock)
        expiredTokenRetention = configuration.expiredTokenRetention
        systemCredentials = SystemCredentials(
            database: database, tokens: tokens, identifiers: identifiers, clock: clock,
            check: check("ExchangeSystemCredential"), deferred: deferred)
        sites = SiteRegistry(database: database, clock: clock)
        keys = APIKeyRegistry(database: database, clock: clock, identifiers: identifiers, pepper: pepper)
        users = UserRegistry(database: database, clock: clock, passwords: passwords, removal: userRemoval)
    }

    /// Creates the organization `system` with the user `admin` in a database without organizations.
    ///
    /// - Parameters:
    ///   - password: the admin's password; `nil` for a random one.
    ///   - keep: receives the random password and stores it for the operator. Called before the account exists, so that no crash
    ///     leaves an account whose password nobody knows.
    /// - Returns: whether they were created now.
    @discardableResult
    package func createFirstAdmin(password: Secret?, keep: (Secret) throws -> Void) async throws -> Bool {
        guard try await database.read({ try OrganizationRecords($0).all() }).isEmpty else { return false }
        if let password, !FieldRules.isPassword(password.exposedText) { throw FirstAdminError() }
        let chosen = password ?? Secret(Base64.encodeURL(Random.bytes(18)))
        if password == nil { try keep(chosen) }
        let hash = try await passwords.hash(chosen, for: .gateway)
        let now = clock.now()
        try await database.write { connection in
            guard
                let system = try OrganizationRecords(connection).insert(
                    name: "system", displayName: "System", kind: .system, at: now)
            else { return }
            _ = try UserRecords(connection).insert(
                organizationID: system.id, name: "admin", role: .admin, passwordHash: hash, at: now)
        }
        return true
    }

    /// Returns the organization's name if the gateway has further organizations besides it and `system`; `nil` for `system`, which
    /// acts for all.
    package static func nameAmongOthers(_ id: Int64, in connection: Connection) throws -> String? {
        guard try hasSeveralOrganizations(in: connection) else { return nil }
        return try OrganizationRecords(connection).all().first { $0.id == id && $0.kind == .business }?.name
    }

    /// Whether there are two or more organizations besides `system`.
    package static func hasSeveralOrganizations(in connection: Connection) throws -> Bool {
        try OrganizationRecords(connection).all().count { $0.kind == .business } > 1
    }

    /// Returns the organization; `nil` if no organization has that id.
    package static func organization(_ id: Int64, in connection: Connection) throws -> OrganizationReference? {
        try OrganizationRecords(connection).reference(id: id)
    }

    /// The organization with that name; `nil` if it does not exist.
    package static func organization(
        named name: String, in connection: Connection
    ) throws -> OrganizationReference? {
        try OrganizationRecords(connection).find(name: name).map { OrganizationReference(id: $0.id, name: $0.name) }
    }

    /// Makes an organization without users.
    ///
    /// - Returns: `nil` if an organization already has the name.
    package static func createOrganization(
        name: String, at now: UnixTime, in connection: Connection
    ) throws -> OrganizationReference? {
        try OrganizationRecords(connection).insert(name: name, displayName: name, kind: .business, at: now)?.reference
    }

    /// Whether credentials and tokens issued for the key are still valid.
    package static func isLive(_ key: APIKeyReference, at now: UnixTime, in connection: Connection) throws -> Bool {
        guard let record = try APIKeyRecords(connection).find(id: key.id) else { return false }
        return record.epoch == key.epoch && record.usability(at: now) == .usable
    }

    /// Whether tokens issued for the user are still valid.
    package static func isLive(userID: Int64, epoch: Int64, in connection: Connection) throws -> Bool {
        try UserRecords(connection).find(id: userID)?.epoch == epoch
    }

    /// Whether the site is enabled; `nil` if the organization has no such site.
    package static func isSiteEnabled(
        _ siteID: Int64, organizationID: Int64, in connection: Connection
    ) throws -> Bool? {
        try SiteRecords(connection).find(id: siteID, organizationID: organizationID).map { $0.status == .enabled }
    }
}

extension Accounts {
    /// Registers AuthService, SystemAuthService, SessionService, AccountService and ApiTokenService.
    package func register(in router: inout Router) {
        authService.register(in: &router)
        systemAuthService.register(in: &router)
        sessionService.register(in: &router)
        accountService.register(in: &router)
        apiTokenService.register(in: &router)
        for method in [AuthServiceMethods.login, SessionServiceMethods.completeLogin] {
            router.apply(MethodRules(keepsUserAgent: true), to: method)
        }
    }

    /// Registers AdminAuthService, UserAuthService, IdentityManagementService and AuditService, for the admin listener.
    package func registerManagement(devices: any DeviceDirectory, in router: inout Router) {
        adminAuthService(devices: devices).register(in: &router)
        userAuthService.register(in: &router)
        identityManagementService.register(in: &router)
        auditService.register(in: &router)
    }

    package var authService: AuthService { AuthService(accounts: self) }

    package var systemAuthService: SystemAuthService { SystemAuthService(accounts: self) }

    package var sessionService: SessionService { SessionService(accounts: self) }

    package var accountService: AccountService { AccountService(accounts: self) }

    package var apiTokenService: ApiTokenService { ApiTokenService(accounts: self) }

    package func adminAuthService(devices: any DeviceDirectory) -> AdminAuthService {
        AdminAuthService(accounts: self, devices: devices)
    }

    package var userAuthService: UserAuthService { UserAuthService(accounts: self, pageTokens: pageTokens) }

    package var identityManagementService: IdentityManagementService { IdentityManagementService(accounts: self) }

    package var auditService: AuditService { AuditService(accounts: self, pageTokens: pageTokens) }

    /// The public keys that verify access tokens now, as a JWK Set (RFC 7517, section 5).
    package var publicKeys: String { tokens.publicKeys(at: clock.now()) }

    /// Rotates the token-signing key.
    func rotateSigningKey(by caller: Caller) async throws -> SigningKeys {
        let now = clock.now()
        let pending = try signingKeys.makePending()
        defer { signingKeys.discard(pending) }
        let outcome = Lock<Result<SigningKeys, any Error>?>(nil)
        try await database.write { [tokens, signingKeys, clockGuard] connection in
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

    /// Writes deferred records and removes audit lines beyond their retention; called once a minute.
    ///
    /// - Parameter permit: `nil` = nothing is removed by its age.
    /// - Returns: the number of removed lines.
    package func tidy(_ permit: DeletionPermit?) async throws -> Int {
        deferred.flush(at: clock.now())
        return try await auditRetention.run(permit)
    }

    /// Removes sessions and API tokens that have expired; called once a minute.
    ///
    /// - Returns: the number of removed ones.
    package func sweepSessions(_ permit: DeletionPermit) async throws -> Int {
        let retention = expiredTokenRetention
        return try await database.write(mayUseReserve: true) { connection in
            try SessionRecords(connection).deleteExpired(limit: Self.sweepBatch, permit)
                + APITokenRecords(connection).deleteExpired(for: retention, limit: Self.sweepBatch, permit)
        }
    }

    /// The number of rows that a sweep removes in one transaction, during which other writes wait.
    private static let sweepBatch = 500

    /// Returns the session of a refresh token, whether or not the token was used; `nil` if the session has ended.
    package static func sessionID(ofRefreshToken text: Secret, in connection: Connection) throws -> String? {
        guard let token = OpaqueToken(.refresh, text: text.exposedText) else { return nil }
        return try RefreshTokenRecords(connection).find(id: token.id)?.family
    }

    /// Ends a session with its tokens.
    package static func endSession(_ id: String, in connection: Connection) throws {
        try SessionRecords(connection).delete(id: id)
    }

    /// Throws PERMISSION_DENIED unless it is the caller's password; for calls that are too grave for a session alone.
    package func requirePassword(_ password: Secret, of caller: Caller) async throws {
        _ = try await ownAccount.requirePassword(password, of: caller)
    }

    /// Returns a page of the audit log, and the id at its end.
    ///
    /// - Parameter after: `nil` = from the beginning.
    func auditLines(
        since: UnixTime?, after id: Int64?, limit: Int, for caller: Caller
    ) async throws -> (lines: [AuditRecord], end: Int64) {
        let since = since ?? UnixTime(microseconds: 0)
        return try await database.read { connection in
            let start = try id.map { $0 + 1 } ?? AuditRecords(connection).start(since: since)
            let lines = try AuditRecords(connection).page(
                start..<Int64.max, organization: Self.audited(by: caller), since: since, limit: limit)
            return (lines, lines.last?.id ?? start - 1)
        }
    }

    /// Returns the lines before the line `id`, newest first; `nil` = from the last line on.
    func auditLines(since: UnixTime?, before id: Int64?, limit: Int, for caller: Caller) async throws -> [AuditRecord] {
        let since = since ?? UnixTime(microseconds: 0)
        return try await database.read { connection in
            let end = id ?? Int64.max
            let start = min(try AuditRecords(connection).start(since: since), end)
            return try AuditRecords(connection).page(
                start..<end, newestFirst: true, organization: Self.audited(by: caller), since: since, limit: limit)
        }
    }

    /// Returns the organization whose audit lines a caller sees; `nil` = all.
    private static func audited(by caller: Caller) -> Int64? { caller.isSystem ? nil : caller.organization.id }

    /// Issues an access token for an open session.
    func accessToken(for session: Sessions.Opened, at now: UnixTime) -> (text: String, expiresAt: UnixTime) {
        tokens.issue(session, at: now)
    }
}

/// The first admin's configured password violates the rule for passwords.
package struct FirstAdminError: Error, CustomStringConvertible {
    package var description: String { "the first admin's password must be 8 to 1024 bytes" }
}
