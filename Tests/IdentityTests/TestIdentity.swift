import Accounts
import Basics
import Capability
import Crypto
import GatewayTesting
import HTTPTypes
import IdentityTokens
import Proto
import RPC
import Wire

@testable import Identity

/// A gateway's sign-ins with two providers that are stubs: `corp`, and `apple`, which has an issuer of its own.
final class TestIdentity: Sendable {
    static let appleURL = "https://apple.example.com"

    let world: TestAccounts
    let transport = StubTransport()
    let issuer = TestIssuer()
    let service: IdentityService
    private let identity: Identity

    init(_ configure: (inout [IdentityProvider]) -> Void = { _ in }) async throws {
        world = try await TestAccounts(
            migrations: Identity.migrations, access: TestAccounts.access(with: Identity.access))
        world.clock.advance(seconds: TestIssuer.now.seconds - world.clock.now().seconds)
        var corp = IdentityProvider(name: "corp", issuer: TestIssuer.url, audiences: ["gateway"])
        corp.client = IdentityProvider.Client(id: "gateway", secret: Secret("se cret"), scopes: ["openid"])
        var people = PeopleRules(organization: "acme")
        people.rolesClaim = "groups"
        people.roles = ["ops": .operator, "admins": .admin]
        people.createsAccounts = true
        people.linksByEmail = true
        corp.people = people
        var apple = IdentityProvider(name: "apple", issuer: Self.appleURL, audiences: ["app"])
        people.rolesClaim = nil
        people.defaultRole = .viewer
        apple.people = people
        var ci = IdentityProvider(name: "ci", issuer: "https://ci.example.com", audiences: ["data-gateway"])
        ci.workloads = [
            WorkloadAccount(
                account: "uploader", claims: ["repository": "acme/robots", "ref": "refs/heads/main"])
        ]
        var configuration = IdentityConfiguration()
        configuration.providers = [apple, ci, corp]
        configuration.publicURL = "https://gateway.example.com"
        configure(&configuration.providers)
        identity = Identity(
            world.environment, accounts: world.accounts, configuration: configuration
        ) { [transport] _ in transport }
        service = identity.service
        for url in configuration.providers.map(\.issuer) {
            let document = """
                {"issuer":"\(url)","jwks_uri":"\(url)/keys","authorization_endpoint":"\(url)/authorize?a=b",\
                "token_endpoint":"\(url)/token"}
                """
            transport.set("\(url)/.well-known/openid-configuration", Array(document.utf8))
            transport.set("\(url)/keys", TestIssuer.set(issuer.keys))
        }
        let admin = try await world.login().accessToken
        _ = try await world.createOrganization("acme", token: admin)
    }

    /// Returns the token of a person of `corp`.
    func corpToken(_ changes: [String: String] = [:]) -> String {
        issuer.sign(TestIssuer.claims(["groups": #"["ops"]"#].merging(changes) { $1 }))
    }

    func appleToken(_ changes: [String: String] = [:]) -> String {
        issuer.sign(
            TestIssuer.claims(
                ["iss": "\"\(Self.appleURL)\"", "aud": #""app""#, "sub": #""001""#].merging(changes) { $1 }))
    }

    func workloadToken(_ changes: [String: String] = [:]) -> String {
        issuer.sign(
            TestIssuer.claims(
                [
                    "iss": #""https://ci.example.com""#, "aud": #""data-gateway""#,
                    "sub": #""repo:acme/robots:ref:refs/heads/main""#, "repository": #""acme/robots""#,
                    "ref": #""refs/heads/main""#,
                ].merging(changes) { $1 }))
    }

    @discardableResult
    func signIn(
        _ provider: String, _ token: String, nonce: String = "", host: String = "192.0.2.7"
    ) async throws -> LoginResponse {
        try await service.signInWithIdentityToken(
            SignInWithIdentityTokenRequest(provider: provider, identityToken: token, nonce: nonce),
            context: try world.call(IdentityServiceMethods.signInWithIdentityToken, host: host))
    }

    /// Signs a person of `corp` in.
    @discardableResult
    func signIn(_ token: String, nonce: String = "", host: String = "192.0.2.7") async throws -> LoginResponse {
        try await signIn("corp", token, nonce: nonce, host: host)
    }

    func exchange(_ token: String) async throws -> ExchangeWorkloadTokenResponse {
        try await service.exchangeWorkloadToken(
            ExchangeWorkloadTokenRequest(identityToken: token),
            context: try world.call(IdentityServiceMethods.exchangeWorkloadToken))
    }

    func begin(redirect: String = "http://127.0.0.1:1234/callback") async throws -> BeginSignInResponse {
        try await service.beginSignIn(
            BeginSignInRequest(provider: "corp", redirectURI: redirect),
            context: try world.call(IdentityServiceMethods.beginSignIn))
    }

    func complete(
        _ code: String, state: String, secret: String, issuer: String = "", host: String = "192.0.2.7"
    ) async throws -> LoginResponse {
        try await service.completeSignIn(
            CompleteSignInRequest(code: code, state: state, flowSecret: secret, issuer: issuer),
            context: try world.call(IdentityServiceMethods.completeSignIn, host: host))
    }

    /// Returns the names of the users of `acme`.
    func users() async throws -> [String] {
        let boss = try await world.login("boss", organization: "acme", password: "long enough").accessToken
        return try await world.accounts.userAuthService.listUsers(
            ListUsersRequest(), context: try world.call(UserAuthServiceMethods.listUsers, token: boss)
        ).users.map(\.userName)
    }

    func sweep() async throws -> Int {
        guard let permit = world.clockGuard.permit() else { return -1 }
        return try await identity.sweep(permit)
    }
}
