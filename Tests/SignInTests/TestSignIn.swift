import Accounts
import AppProto
import AppSupport
import Basics
import Capability
import Crypto
import Database
import GatewayTesting
import Identity
import RPC

@testable import SignIn

/// The app on accounts of its own, with a clock that stands still. Developers sign in on the gateway's machine.
final class TestSignIn: Sendable {
    static let organization = "guests"
    static let secret = "secret of developers"

    let world: TestAccounts
    let app: RunningSignIn

    init() async throws {
        world = try await TestAccounts(
            migrations: Identity.migrations + SignInApp.migrations,
            access: TestAccounts.access(with: SignInApp.api.access))
        let settings = try TestSettings(["organization": Self.organization], secret: Self.secret)
        let environment = AppEnvironment(
            world.environment, accounts: world.accounts,
            identity: Identity(world.environment, accounts: world.accounts, configuration: IdentityConfiguration()),
            state: ServingState(), requiresSecureCookies: false, spoolDirectory: world.directory)
        app = try await RunningSignIn(environment, SignInConfiguration(try settings.section()))
    }

    func advance(_ time: Duration) { world.clock.advance(seconds: time.wholeSeconds) }

    /// Returns the call of a user of the app.
    func call(_ token: String) throws -> CallContext {
        try world.call(ProfileServiceMethods.getMe, token: token, host: "127.0.0.1")
    }

    @discardableResult
    func signIn(
        _ email: String = "ada@example.com", nickname: String = "", secret: String = TestSignIn.secret
    ) async throws -> SignInSession {
        try await app.signIns.devLogin(
            DevLoginRequest(email: email, nickname: nickname, devSecret: secret),
            context: try world.call(SignInServiceMethods.devLogin, host: "127.0.0.1"))
    }

    func refresh(_ token: String) async throws -> SignInSession {
        try await app.signIns.refreshSession(
            RefreshSessionRequest(refreshToken: token),
            context: try world.call(SignInServiceMethods.refreshSession, host: "127.0.0.1"))
    }

    func me(_ token: String) async throws -> SignInUser {
        try await app.profiles.getMe(GetMeRequest(), context: try call(token))
    }

    func update(_ request: UpdateMeRequest, token: String) async throws -> SignInUser {
        try await app.profiles.updateMe(request, context: try call(token))
    }

    func export(_ token: String) async throws -> PersonalData {
        try await app.profiles.exportMe(ExportMeRequest(), context: try call(token))
    }

    @discardableResult
    func create(_ title: String, token: String) async throws -> KnowledgeBase {
        try await app.knowledgeBases.createKnowledgeBase(
            CreateKnowledgeBaseRequest(title: title), context: try call(token))
    }

    func delete(_ base: KnowledgeBase, token: String) async throws {
        _ = try await app.knowledgeBases.deleteKnowledgeBase(
            DeleteKnowledgeBaseRequest(id: base.id), context: try call(token))
    }

    /// Runs all removals once, and returns the number of removed rows.
    func sweep() async throws -> Int {
        guard let permit = world.clockGuard.permit() else { return -1 }
        var removed = 0
        for sweep in app.sweeps { removed += try await sweep.run(permit) }
        return removed
    }
}
