import Basics
package import Capability
package import Crypto
import Database
package import GatewayAPI
import Proto
import RPC

/// Sites, API keys, organizations, users, tokens and the audit log: identities and their rights.
package final class Accounts: Sendable {
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

    /// The announcements of addresses, for the device registry.
    package let addresses: AddressAnnouncements

    let keyExchange: KeyExchange
    let keyRotations: KeyRotations
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
    let signingKeys: SigningKeyFolder
    /// Limits the callers of organizations that have too many audit lines.
    package let auditPressure: AuditPressure
    let auditRetention: AuditRetention
    let pageTokens: PageTokens
    let clock: any WallClock
    let clockGuard: ClockGuard
    let database: Database
    private let passwords: Passwords
    let expiredTokenRetention: Duration

    /// - Parameters:
    ///   - keysDirectory: the folder of the signing keys, which also contains the keyring's root; the first key is made if there is
    ///     none.
    ///   - access: the callers for each method of the listeners.
    package init(
        _ environment: ModuleEnvironment, keysDirectory: String,
        access: AccessTable,
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
        let wrongSecrets = Throttle(perMinute: configuration.wrongCredentialsOfKey)
        func check(_ action: String) -> CredentialCheck {
            CredentialCheck(action: action, pepper: pepper, wrongSecrets: wrongSecrets, deferred: deferred)
        }
        keyExchange = KeyExchange(
            database: database, tokens: tokens, deferred: deferred,
            proof: KeyProof(database: database, check: check("ExchangeCredential")))
        keyRotations = KeyRotations(
            database: database, proof: KeyProof(database: database, check: check("RotateCredential")))
        addresses = AddressAnnouncements(database: database, clock: clock)
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

    /// Throws PERMISSION_DENIED unless it is the caller's password; for calls that are too grave for a session alone.
    package func requirePassword(_ password: Secret, of caller: Caller) async throws {
        _ = try await ownAccount.requirePassword(password, of: caller)
    }

    /// Issues an access token for an open session.
    func accessToken(for session: Sessions.Opened, at now: UnixTime) -> (text: String, expiresAt: UnixTime) {
        tokens.issue(session, at: now)
    }
}

/// The first admin's configured password violates the rule for passwords.
package struct FirstAdminError: Error, CustomStringConvertible {
    package var description: String { "the first admin's password must be 8 to 1024 bytes" }
}
