import Accounts
import AppSupport
import Basics
import Capability
import Crypto
import Database
import GatewayTesting
import HTTPTypes
import Identity
import RPC
import TestSupport
import Testing
import Wire

@testable import Members

@Suite(.timeLimited) struct MemberSessionTests {
    private static let method = MethodDescriptor(service: "app.Service", name: "Call", kind: .unary)

    private let world: TestAccounts
    private let organization: AppOrganization
    private let sessions: MemberSessions

    init() async throws {
        world = try await TestAccounts(migrations: Identity.migrations + MemberRecords.migrations)
        organization = try await AppOrganization.open(
            "guests", of: "app", database: world.database, at: world.clock.now())
        sessions = MemberSessions(Self.environment(world), organization: organization)
    }

    private static func environment(_ world: TestAccounts) -> AppEnvironment {
        AppEnvironment(
            world.environment, accounts: world.accounts,
            identity: Identity(world.environment, accounts: world.accounts, configuration: IdentityConfiguration()),
            state: ServingState(), requiresSecureCookies: true, spoolDirectory: world.directory)
    }

    private func member(_ name: String = "ada") async throws -> UserRecord {
        try await world.database.write { [world, organization] connection in
            try Identity.member(
                issuer: "test", subject: name, email: nil, organizationID: organization.reference.id,
                at: world.clock.now(), in: connection
            ).user
        }
    }

    private func open(for user: UserRecord) async throws -> String {
        try await world.database.write { [sessions] in try sessions.open(for: user, in: $0) }
    }

    private func call(_ fields: (String, String)...) -> CallContext {
        CallContext(method: Self.method, metadata: Metadata(fields.map { (name: $0.0, value: $0.1) }))
    }

    private func pair(_ cookie: String) -> String { String(cookie.prefix { $0 != ";" }) }

    @Test func cookieIsForThisHostAndForNoScript() async throws {
        let cookie = try await open(for: try await member())
        #expect(
            cookie.wholeMatch(
                of: /member_app=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict; Secure/) != nil)
        let removal = MemberCookie(of: "app", isSecure: false).removal
        #expect(removal == "member_app=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict")
    }

    @Test func cookieOfAProgramOpensTheSession() async throws {
        let user = try await member()
        let cookie = pair(try await open(for: user))
        #expect(try await sessions.member(call(("cookie", cookie)))?.id == user.id)
        #expect(try await sessions.member(call(("cookie", "a=b; \(cookie) ; c=d")))?.id == user.id)
        #expect(try await sessions.member(call(("cookie", cookie + "x"))) == nil)
        #expect(try await sessions.member(call()) == nil)
    }

    @Test func cookieCountsForPagesOfThisOriginOnly() async throws {
        let cookie = ("cookie", pair(try await open(for: try await member())))
        let origin = ("origin", "https://app.example")
        let counting: [[(String, String)]] = [
            [("sec-fetch-site", "same-origin")], [("sec-fetch-site", "same-origin"), origin],
            [("sec-fetch-site", "none")],
        ]
        for fields in counting {
            let context = CallContext(
                method: Self.method, metadata: Metadata(([cookie] + fields).map { (name: $0.0, value: $0.1) }))
            #expect(try await sessions.member(context) != nil, "\(fields)")
        }
        let refused: [[(String, String)]] = [
            [origin], [("sec-fetch-site", "same-site")], [("sec-fetch-site", "cross-site")],
            [("sec-fetch-site", "cross-site"), origin], [("sec-fetch-site", "none"), origin],
            [("sec-fetch-site", "Same-Origin")], [("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site")],
            [("cookie", "member_app=another")],
        ]
        for fields in refused {
            let context = CallContext(
                method: Self.method, metadata: Metadata(([cookie] + fields).map { (name: $0.0, value: $0.1) }))
            #expect(try await sessions.member(context) == nil, "\(fields)")
        }
    }

    @Test func sessionEndsWithItsTimeAndTheUsersEpoch() async throws {
        let user = try await member()
        let cookie = pair(try await open(for: user))
        let ended = try await member("grace")
        let other = pair(try await open(for: ended))
        try await world.database.write { [world] connection in
            try world.accounts.externalSignIns.endSessions(of: ended, at: world.clock.now(), in: connection)
        }
        #expect(try await sessions.member(call(("cookie", other))) == nil)
        #expect(try await sessions.member(call(("cookie", cookie))) != nil)
        world.clock.advance(seconds: MemberSessions.lifetime.wholeSeconds)
        #expect(try await sessions.member(call(("cookie", cookie))) == nil)
    }

    @Test func signOutEndsTheSession() async throws {
        let cookie = pair(try await open(for: try await member()))
        #expect(try await sessions.end(call(("cookie", cookie))).hasPrefix("member_app=; Max-Age=0"))
        #expect(try await sessions.member(call(("cookie", cookie))) == nil)
    }

    @Test func memberHasABoundedNumberOfSessions() async throws {
        let user = try await member()
        let first = pair(try await open(for: user))
        for _ in 0..<20 {
            world.clock.advance(seconds: 1)
            _ = try await open(for: user)
        }
        #expect(try await sessions.member(call(("cookie", first))) == nil)
        let count = try await world.database.read {
            try $0.first("SELECT count(*) AS sessions FROM member_sessions") { $0.int("sessions") }
        }
        #expect(count == 20)
    }

    @Test func expiredSessionsAreSwept() async throws {
        _ = try await open(for: try await member())
        let permit = try #require(world.clockGuard.permit())
        #expect(try await sessions.sweep.run(permit) == 0)
        world.clock.advance(seconds: MemberSessions.lifetime.wholeSeconds)
        let later = try #require(world.clockGuard.permit())
        #expect(try await sessions.sweep.run(later) == 1)
    }

    @Test func organizationBelongsToOneApp() async throws {
        let (database, now) = (world.database, world.clock.now())
        #expect(try await AppOrganization.open("guests", of: "app", database: database, at: now) == organization)
        await #expect(throws: AppOrganizationError.taken("guests", app: "other")) {
            try await AppOrganization.open("guests", of: "other", database: database, at: now)
        }
        await #expect(throws: AppOrganizationError.taken("system", app: "app")) {
            try await AppOrganization.open("system", of: "app", database: database, at: now)
        }
        #expect(try world.audit().contains("gateway guests CreateOrganization organizations/guests OK 1"))
    }

    @Test func memberOfAnotherOrganizationIsNobody() async throws {
        let other = try await AppOrganization.open(
            "others", of: "another", database: world.database, at: world.clock.now())
        let cookie = pair(try await open(for: try await member()))
        let foreign = MemberSessions(Self.environment(world), organization: other)
        #expect(try await foreign.member(call(("cookie", cookie))) == nil)
        // Neither under the name of the other app's cookie.
        let renamed = cookie.replacing("member_app=", with: "member_another=")
        #expect(renamed != cookie)
        #expect(try await foreign.member(call(("cookie", renamed))) == nil)
        #expect(try await sessions.member(call(("cookie", renamed))) == nil)
        let own = try await world.database.write { [world] connection in
            try Identity.member(
                issuer: "test", subject: "bob", email: nil, organizationID: other.reference.id, at: world.clock.now(),
                in: connection
            ).user
        }
        let second = pair(try await world.database.write { try foreign.open(for: own, in: $0) })
        // A browser sends both to the host, and each app finds its own.
        let both = call(("cookie", "\(cookie); \(second)"))
        #expect(try await sessions.member(both)?.name == (try await member()).name)
        #expect(try await foreign.member(both)?.id == own.id)
        let user = try await member()
        let context = CallContext(method: Self.method, identity: Principal.user(user.principal))
        #expect(try organization.member(context).userID == user.id)
        #expect(await refusal { _ = try other.member(context) }?.status == .unauthenticated)
    }
}
