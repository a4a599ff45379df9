import Accounts
import AppProto
package import AppSupport
import Basics
package import Capability
import Crypto
package import Database
import GRPCWire
import GatewayAPI
import Identity
import Members
package import Protobuf
import RPC

/// The app for sign-ins of phone apps' users: with Apple, and for development with an address.
package struct SignInApp: App {
    package static let name = "sign_in"

    package static var migrations: [Migration] { MemberRecords.migrations + SignInMigrations.all }

    package static var api: AppAPI {
        AppAPI(
            files: [.appsSignInProto],
            routes: SignInServiceMethods.routes + ProfileServiceMethods.routes + KnowledgeBaseServiceMethods.routes,
            access: AccessTable(
                [
                    (
                        .anyone,
                        [
                            SignInServiceMethods.devLogin, SignInServiceMethods.createNonce,
                            SignInServiceMethods.signInWithApple, SignInServiceMethods.notifyByApple,
                            SignInServiceMethods.refreshSession,
                        ]
                    ),
                    (
                        .user(.member),
                        [SignInServiceMethods.endSession]
                            + ProfileServiceMethods.all.filter { $0 != ProfileServiceMethods.setStatus }
                    ),
                    (.user(.admin), [ProfileServiceMethods.setStatus]),
                    (.user(.member), KnowledgeBaseServiceMethods.all),
                ], messages: SignInMessages(signedOut: "请先登录", expired: "登录已过期,请重新登录")),
            comments: AppProtoFiles.comments)
    }

    package static var issuesAccessTokens: Bool { true }

    let configuration: SignInConfiguration

    package init(_ settings: AppSettings) {
        configuration = SignInConfiguration(settings)
    }

    package func adapt(_ style: inout RESTStyle) {
        if configuration.hasEnvelope { style.errors = .envelope }
    }

    package func open(_ environment: AppEnvironment) async throws -> any Capability {
        try await RunningSignIn(environment, configuration)
    }
}

/// The app while the gateway serves.
struct RunningSignIn: Capability {
    let signIns: SignInService
    let profiles: ProfileService
    let knowledgeBases: KnowledgeBaseService
    let sweeps: [Sweep]

    init(_ environment: AppEnvironment, _ configuration: SignInConfiguration) async throws {
        let (modules, log) = (environment.modules, environment.modules.log)
        let organization = try await AppOrganization.open(
            configuration.organization, of: SignInApp.name, database: modules.database, at: modules.clock.now())
        if configuration.ignoresDevSecret {
            log.write(
                "dev-login stays disabled, since other machines can reach the listener for apps",
                ["setting": "apps.sign_in.dev_login", "hint": "listen on 127.0.0.1, or remove the setting"],
                level: .warning)
        }
        let apple = try Self.apple(configuration, environment)
        let store = ProfileStore(organization: organization, database: modules.database, clock: modules.clock)
        signIns = SignInService(
            development: DevelopmentSignIn(
                secret: configuration.devSecret, lifetime: configuration.devSessionLifetime, store: store,
                accounts: environment.accounts),
            apple: apple.map {
                AppleSignIn(
                    provider: $0, identity: environment.identity, accounts: environment.accounts.externalSignIns,
                    store: store)
            },
            sessions: SignInSessions(store: store, accounts: environment.accounts))
        let writes = WriteLimit(clock: modules.clock)
        profiles = ProfileService(
            store: store, accounts: environment.accounts, writes: writes,
            members: MemberAccounts(environment))
        let bases = KnowledgeBases(
            store: store, deletedRetention: configuration.deletedRetention, writes: writes)
        knowledgeBases = KnowledgeBaseService(bases: bases)
        sweeps = [bases.sweep]
    }

    func register(for listener: ListenerName, in router: inout Router) {
        guard listener == .apps else { return }
        signIns.register(in: &router)
        profiles.register(in: &router)
        knowledgeBases.register(in: &router)
    }

    /// Returns the name of Apple's entry in the configuration; `nil` if it has none.
    private static func apple(
        _ configuration: SignInConfiguration, _ environment: AppEnvironment
    ) throws -> String? {
        let name = configuration.provider
        guard environment.identity.issuer(of: name) != nil else {
            environment.modules.log.write(
                "sign-in with Apple is not configured",
                [
                    "hint":
                        "add the provider \(name) to identity.providers, with users: { organization: …, default_role: member }"
                ],
                level: .warning)
            return nil
        }
        guard environment.identity.memberOrganization(of: name) == configuration.organization else {
            throw SignInSetupError(provider: name, organization: configuration.organization)
        }
        return name
    }
}

/// A provider whose settings do not fit the app's.
struct SignInSetupError: Error, CustomStringConvertible {
    let provider: String
    let organization: String

    var description: String {
        "apps.sign_in.provider: the users of identity.providers.\(provider) must have organization: \"\(organization)\","
            + " default_role: \"member\" and create: true, and no roles_claim"
    }
}

/// The limit of changes that one user makes.
struct WriteLimit: Sendable {
    private static let perMinute = 120

    private let throttle = Throttle(perMinute: Self.perMinute)
    private let clock: any WallClock

    init(clock: any WallClock) {
        self.clock = clock
    }

    /// - Throws: RESOURCE_EXHAUSTED beyond the limit.
    func count(_ userID: Int64) throws(RPCError) {
        guard let wait = throttle.take("\(userID)", at: clock.now()) else { return }
        throw RPCError(
            bare: .resourceExhausted, "a user can make \(Self.perMinute) changes a minute: try again later",
            retryAfterMilliseconds: wait)
    }
}
