package import Basics
package import Capability
package import Crypto
package import Database
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
    /// The refused calls that only named a device.
    package let unprovenCalls = UnprovenCalls()

    /// The removal of users, which other modules can observe.
    package var userRemoval: UserRemoval { registries.users.removal }
    /// The announcements of addresses, for the device registry.
    package let addresses: AddressAnnouncements
    /// Limits the callers of organizations that have too many audit lines.
    package var auditPressure: AuditPressure { auditRetention.pressure }

    let signingKeys: SigningKeyStore
    let tokens: AccessTokens
    /// `nil` if no other gateway rotates keys.
    let keyUpdates: SigningKeyUpdates?
    let sessions: Sessions
    let own: SelfService
    let credentials: MachineCredentials
    let registries: AccountRegistries
    let invitations: Invitations
    /// The responses to calls that a balancer may send again.
    package let keptResponses: KeptResponses
    let auditRetention: AuditRetention
    let environment: ModuleEnvironment

    var database: Database { environment.database }
    var clock: any WallClock { environment.clock }

    /// - Parameters:
    ///   - keysDirectory: the folder in which versions before 0.3.0 kept the signing keys; `nil` = the gateway never had one.
    ///   - access: the callers for each method of the listeners.
    package init(
        _ environment: ModuleEnvironment, keysDirectory: String?,
        access: AccessTable,
        configuration: AccountsConfiguration = AccountsConfiguration()
    ) throws {
        let (database, clock) = (environment.database, environment.clock)
        let pepper = environment.keyring.key(.pepper)
        self.environment = environment
        signingKeys = SigningKeyStore(environment.keyring, lifetime: configuration.accessTokenLifetime)
        let keys = try signingKeys.open(
            database, importing: keysDirectory.map { SigningKeyFiles(path: $0) }, environment.clockGuard.permit())
        tokens = AccessTokens(
            signer: TokenSigner(keys: keys),
            lifetime: configuration.accessTokenLifetime,
            capacity: configuration.rememberedTokens)
        keyUpdates = environment.hasReplicas ? SigningKeyUpdates(signingKeys, database, tokens) : nil
        let auditPressure = AuditPressure(
            callsPerMinute: configuration.auditedCallsUnderPressure, maximumLines: configuration.auditLines,
            clock: clock,
            log: environment.log)
        auditRetention = AuditRetention(
            database: database, clock: clock, age: configuration.auditRetention,
            minimumAge: configuration.minimumAuditRetention, maximumLines: configuration.auditLines,
            pressure: auditPressure)
        deferred = DeferredRecords(database: database)
        authenticator = Authenticator(
            database: database, tokens: tokens, keyUpdates: keyUpdates, deferred: deferred, clock: clock,
            auditPressure: auditPressure, access: access, pepper: pepper)
        deviceKeys = DeviceKeys(identifiers: environment.identifiers, pepper: pepper)
        addresses = AddressAnnouncements(database: database, clock: clock)
        sessions = Sessions(
            database: database, passwords: Passwords(capacity: configuration.waitingPasswords),
            identifiers: environment.identifiers, deferred: deferred, pepper: pepper, configuration: configuration,
            clockGuard: environment.clockGuard, failures: LoginFailures(configuration, pepper: pepper),
            auditPressure: auditPressure,
            secondFactors: SecondFactors(environment.keyring, configuration: configuration))
        own = SelfService(sessions, clock: clock)
        credentials = MachineCredentials(
            environment, tokens, deferred, unprovenCalls, wrongSecretsPerMinute: configuration.wrongCredentialsOfKey)
        registries = AccountRegistries(environment, passwords: sessions.passwords)
        invitations = Invitations(sessions, clock: clock)
        keptResponses = KeptResponses(environment)
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
        let hash = try await sessions.passwords.hash(chosen, for: .gateway)
        let now = clock.now()
        return try await database.write { connection in
            // Another program may have been faster.
            guard try OrganizationRecords(connection).all().isEmpty,
                let system = try OrganizationRecords(connection).insert(
                    name: "system", displayName: "System", kind: .system, at: now)
            else { return false }
            _ = try UserRecords(connection).insert(
                organizationID: system.id, name: "admin", role: .admin, passwordHash: hash, at: now)
            return true
        }
    }

    /// Throws PERMISSION_DENIED unless it is the caller's password; for calls that are too grave for a session alone.
    package func requirePassword(_ password: Secret, of caller: Caller) async throws {
        _ = try await own.account.requirePassword(password, of: caller)
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

/// The services.
extension Accounts {
    package var authService: AuthService { AuthService(accounts: self) }

    package var systemAuthService: SystemAuthService { SystemAuthService(accounts: self) }

    package var sessionService: SessionService { SessionService(accounts: self) }

    package var accountService: AccountService { AccountService(accounts: self) }

    package var apiTokenService: ApiTokenService { ApiTokenService(accounts: self) }

    package func adminAuthService(devices: any DeviceDirectory) -> AdminAuthService {
        AdminAuthService(accounts: self, devices: devices)
    }

    package var userAuthService: UserAuthService { UserAuthService(accounts: self, pageTokens: registries.pageTokens) }

    package var identityManagementService: IdentityManagementService { IdentityManagementService(accounts: self) }

    package var invitationService: InvitationService { InvitationService(accounts: self) }

    package var invitationManagementService: InvitationManagementService {
        InvitationManagementService(
            accounts: self, pageTokens: registries.pageTokens, consoleURL: sessions.configuration.consoleURL)
    }

    /// - Parameter vocabulary: the words for all actions.
    package func auditService(_ vocabulary: AuditVocabulary) -> AuditService {
        AuditService(accounts: self, pageTokens: registries.pageTokens, vocabulary: vocabulary)
    }
}

/// Functions for other modules, in their own transactions.
extension Accounts {
    /// Returns the organization's name if the gateway has further organizations besides it and `system`; `nil` for `system`, which
    /// acts for all.
    package static func nameAmongOthers(_ id: Int64, in connection: ReadConnection) throws -> String? {
        guard try hasSeveralOrganizations(in: connection) else { return nil }
        return try OrganizationRecords(connection).all().first { $0.id == id && $0.kind == .business }?.name
    }

    /// Whether there are two or more organizations besides `system`.
    package static func hasSeveralOrganizations(in connection: ReadConnection) throws -> Bool {
        try OrganizationRecords(connection).all().count { $0.kind == .business } > 1
    }

    /// Returns the organization; `nil` if no organization has that id.
    package static func organization(_ id: Int64, in connection: ReadConnection) throws -> OrganizationReference? {
        try OrganizationRecords(connection).reference(id: id)
    }

    /// The organization with that name; `nil` if it does not exist.
    package static func organization(
        named name: String, in connection: ReadConnection
    ) throws -> OrganizationReference? {
        try OrganizationRecords(connection).find(name: name).map { OrganizationReference(id: $0.id, name: $0.name) }
    }

    /// Returns the names of at most 1000 sites, by their ids as text.
    package static func siteNames(_ ids: [Int64], in connection: ReadConnection) throws -> [String: String] {
        let names = try SiteRecords(connection).names(of: ids)
        return Dictionary(uniqueKeysWithValues: names.map { (String($0.key), $0.value) })
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
    package static func isLive(_ key: APIKeyReference, at now: UnixTime, in connection: ReadConnection) throws -> Bool {
        guard let record = try APIKeyRecords(connection).find(id: key.id) else { return false }
        return record.epoch == key.epoch && record.usability(at: now) == .usable
    }

    /// Whether tokens issued for the user are still valid.
    package static func isLive(userID: Int64, epoch: Int64, in connection: ReadConnection) throws -> Bool {
        try UserRecords(connection).find(id: userID)?.epoch == epoch
    }

    /// Whether the site is enabled; `nil` if the organization has no such site.
    package static func isSiteEnabled(
        _ siteID: Int64, organizationID: Int64, in connection: ReadConnection
    ) throws -> Bool? {
        try SiteRecords(connection).find(id: siteID, organizationID: organizationID).map { $0.status == .enabled }
    }

    /// Returns the session of a refresh token, whether or not the token was used; `nil` if the session has ended.
    package static func sessionID(ofRefreshToken text: Secret, in connection: ReadConnection) throws -> String? {
        guard let token = OpaqueToken(.refresh, text: text.exposedText) else { return nil }
        return try RefreshTokenRecords(connection).find(id: token.id)?.family
    }

    /// Ends a session with its tokens.
    package static func endSession(_ id: String, in connection: Connection) throws {
        try SessionRecords(connection).delete(id: id)
    }
}

/// The registries for those who manage an organization, or the organizations.
struct AccountRegistries: Sendable {
    let sites: SiteRegistry
    let keys: APIKeyRegistry
    let users: UserRegistry
    let policies: SignInPolicies
    /// For their lists, and the audit log's.
    let pageTokens: PageTokens

    init(_ environment: ModuleEnvironment, passwords: Passwords) {
        let (database, clock) = (environment.database, environment.clock)
        sites = SiteRegistry(database: database, clock: clock, zones: environment.timeZones)
        keys = APIKeyRegistry(
            database: database, clock: clock, identifiers: environment.identifiers,
            pepper: environment.keyring.key(.pepper))
        users = UserRegistry(database: database, clock: clock, passwords: passwords, removal: UserRemoval())
        policies = SignInPolicies(database: database, clock: clock)
        pageTokens = PageTokens(keyring: environment.keyring)
    }
}

/// The credentials of devices, sites and service accounts, which have no sessions.
struct MachineCredentials: Sendable {
    let exchange: KeyExchange
    let rotations: KeyRotations
    let system: SystemCredentials

    /// - Parameter wrongSecretsPerMinute: the limit for each credential, together for all of its uses.
    init(
        _ environment: ModuleEnvironment, _ tokens: AccessTokens, _ deferred: DeferredRecords,
        _ unprovenCalls: UnprovenCalls, wrongSecretsPerMinute: Int
    ) {
        let (database, pepper) = (environment.database, environment.keyring.key(.pepper))
        let wrongSecrets = Throttle(perMinute: wrongSecretsPerMinute)
        func check(_ action: String) -> CredentialCheck {
            CredentialCheck(action: action, pepper: pepper, wrongSecrets: wrongSecrets, deferred: deferred)
        }
        func proof(_ action: String) -> KeyProof {
            KeyProof(database: database, check: check(action), unprovenCalls: unprovenCalls)
        }
        exchange = KeyExchange(
            database: database, tokens: tokens, deferred: deferred, proof: proof("ExchangeCredential"))
        rotations = KeyRotations(database: database, proof: proof("RotateCredential"))
        system = SystemCredentials(
            database: database, tokens: tokens, identifiers: environment.identifiers, clock: environment.clock,
            check: check("ExchangeSystemCredential"), deferred: deferred)
    }
}

/// The services for users themselves: their sessions, their account and their API tokens.
struct SelfService: Sendable {
    let sessions: OwnSessions
    let account: OwnAccount
    let apiTokens: APITokens

    /// - Parameter sessions: has the same limits, for a password that is wrong here as well.
    init(_ sessions: Sessions, clock: any WallClock) {
        let (database, configuration) = (sessions.database, sessions.configuration)
        self.sessions = OwnSessions(database: database, clock: clock)
        account = OwnAccount(
            database: database, clock: clock, passwords: sessions.passwords, failures: sessions.failures,
            secondFactors: sessions.secondFactors, deferred: sessions.deferred)
        apiTokens = APITokens(
            database: database, clock: clock, pepper: sessions.pepper, maximum: configuration.apiTokensOfUser,
            lifetime: configuration.apiTokenLifetime)
    }
}
