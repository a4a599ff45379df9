import Basics
import Crypto
import Database
import GatewayFormats
import GatewayTesting
import HTTPTypes
import Proto
import RPC
import TestSupport
import Testing
import Wire

@testable import Accounts

/// The passwords of apps' members: the limits, the audit log and the second factors are those of Login.
@Suite(.timeLimited) struct MemberPasswordTests {
    private static let method = MethodDescriptor(service: "app.Service", name: "SignIn", kind: .unary)
    /// The argon2id hash of the password with 8 KiB and one pass, made by the reference command.
    private static let weak =
        "$argon2id$v=19$m=8,t=1,p=1$c29tZXNhbHRzb21lc2FsdA$fGboIvzlkt1eU7JnWpaFoCiFdQqj41xKJW/x6HC4Hu4"

    private let world: TestAccounts

    init() async throws {
        world = try await TestAccounts()
    }

    private var passwords: MemberPasswords { world.accounts.memberPasswords }

    private func user() async throws -> UserRecord {
        try #require(
            try await world.database.read { try UserRecords($0).find(organization: "system", name: "admin") })
    }

    private func prove(
        _ password: String = TestAccounts.adminPassword, of user: UserRecord?, host: String = "192.0.2.7"
    ) async throws -> ProvenPassword? {
        let context = CallContext(method: Self.method, peer: PeerAddress(host: host, port: 1))
        return try await passwords.prove(
            Secret(password), of: user, named: "guests/admin", context, at: world.clock.now())
    }

    private func proven() async throws -> ProvenPassword { try #require(try await prove(of: try await user())) }

    private func store(hash: String) async throws {
        try await world.database.write { _ = try $0.execute("UPDATE users SET password_hash = $1", hash) }
    }

    @Test func signInIsInTheAuditLogWithItsMethod() async throws {
        let name = try await passwords.signIn(try await proven()) { user, _ in user.name }
        #expect(name == "admin")
        #expect(try world.audit().last?.hasSuffix(" SignIn users/1 OK 1") == true)
        #expect(try await user().lastLoginAt == world.clock.now())
    }

    @Test func wrongPasswordAndUnknownNameCountAlikeAndAreInTheAuditLog() async throws {
        let limit = AccountsConfiguration().failedLoginsOfAccountFromAddress
        for number in 0..<limit {
            let found = try await prove("wrong", of: number.isMultiple(of: 2) ? nil : try await user())
            #expect(found == nil)
        }
        #expect(await refusal { _ = try await prove(of: try await user()) }?.status == .unavailable)
        #expect(try await prove(of: try await user(), host: "198.51.100.1") != nil)
        world.accounts.deferred.flush(at: world.clock.now())
        // The writer writes in the order of requests.
        try await world.database.write { _ in }
        let lines = try world.audit().filter { $0.contains(" SignIn ") }
        #expect(lines.count == 1 && lines[0].hasSuffix(" AUTH_INVALID_CREDENTIAL \(limit)"), "\(lines)")
    }

    @Test func rightPasswordIsNotCounted() async throws {
        let limit = AccountsConfiguration().failedLoginsOfAccountFromAddress
        for _ in 0..<(3 * limit) { #expect(try await prove(of: try await user()) != nil) }
        for _ in 0..<limit { #expect(try await prove("wrong", of: try await user()) == nil) }
    }

    @Test func outdatedHashIsReplacedBySignIn() async throws {
        try await store(hash: Self.weak)
        _ = try await passwords.signIn(try await proven()) { user, _ in user.id }
        #expect(try await user().passwordHash.hasPrefix("$argon2id$v=19$m=19456,t=2,p=1$"))
        _ = try await passwords.signIn(try await proven()) { user, _ in user.id }
    }

    @Test func hashThatChangedMeanwhileIsCheckedAgain() async throws {
        let proven = try await proven()
        try await store(hash: Self.weak)
        #expect(try await passwords.signIn(proven) { user, _ in user.name } == "admin")
        let before = try await self.proven()
        let context = CallContext(method: Self.method)
        try await store(hash: try await passwords.hash(Secret("another password"), context))
        let error = await refusal { _ = try await passwords.signIn(before) { user, _ in user.name } }
        #expect(error?.detail == .authInvalidCredential)
    }

    @Test func sessionsThatEndedMeanwhileRefuseTheSignIn() async throws {
        let proven = try await proven()
        let (user, now) = (try await user(), world.clock.now())
        try await world.database.write { [world] in
            try world.accounts.externalSignIns.endSessions(of: user, at: now, in: $0)
        }
        let error = await refusal { _ = try await passwords.signIn(proven) { user, _ in user.name } }
        #expect(error?.detail == .authInvalidCredential)
    }

    @Test func memberWithASecondFactorIsNotSignedInByThePasswordAlone() async throws {
        let account = try await ProtectedAccount()
        let passwords = account.world.accounts.memberPasswords
        let user = try await account.world.database.read {
            try UserRecords($0).find(organization: "system", name: "admin")
        }
        let proven = try #require(
            try await passwords.prove(
                Secret(TestAccounts.adminPassword), of: user, named: "guests/admin", CallContext(method: Self.method),
                at: account.world.clock.now()))
        let error = await refusal { _ = try await passwords.signIn(proven) { user, _ in user.name } }
        #expect(error?.detail == .authSecondFactorRequired)
    }
}
