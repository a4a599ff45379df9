import Accounts
import AppProto
import Basics
import Capability
import Database
import GatewayTesting
import HTTPTypes
import Identity
import Members
import RPC
import TestSupport
import Testing
import Wire

@testable import Companions

/// The rules for new accounts and passwords.
@Suite(.timeLimited) struct RegistrationTests {
    private static let refusal = CompanionResult(-1, "pass must be 8 to 1024 bytes")

    private let world: TestAccounts
    private let app: RunningCompanions

    init() async throws {
        world = try await TestAccounts(migrations: Identity.migrations + CompanionsApp.migrations)
        var configuration = CompanionsConfiguration()
        configuration.minimumPassword = 8
        app = try await RunningCompanions(world, configuration)
    }

    private var registration: Registration { app.account.registration }

    private func context(_ method: MethodDescriptor) -> CallContext {
        CallContext(method: method, peer: PeerAddress(host: "192.0.2.7", port: 1))
    }

    private func register(_ name: String, pass: String) async throws {
        _ = try await registration.register(
            name: "\(name) of old", email: "\(name)@example.com", pass: pass, picture: [],
            context(CompanionServiceMethods.registerCompanion))
    }

    private func changePassword(of name: String, from pass: String, to new: String) async throws {
        _ = try await registration.changePassword(
            email: "\(name)@example.com", pass: pass, new: new,
            context(CompanionAccountServiceMethods.changePassword))
    }

    private func countMembers() async throws -> Int {
        try await world.database.read { try MemberProfileRecords($0).count() }
    }

    @Test func passwordOfANewAccountHasTheConfiguredLength() async throws {
        for pass in ["", "1234567", "ééé1", String(repeating: "x", count: 1025)] {
            await #expect(throws: Self.refusal, "\(pass.utf8.count)") { try await register("ada", pass: pass) }
        }
        #expect(try await countMembers() == 0)
        try await register("ada", pass: "éééé")
        try await register("bob", pass: String(repeating: "x", count: 1024))
        #expect(try await countMembers() == 2)
    }

    @Test func nextPasswordHasTheConfiguredLength() async throws {
        try await register("ada", pass: "12345678")
        for new in ["", "7654321", String(repeating: "x", count: 1025)] {
            await #expect(throws: Self.refusal) { try await changePassword(of: "ada", from: "12345678", to: new) }
        }
        try await changePassword(of: "ada", from: "12345678", to: "87654321")
        await #expect(throws: CompanionResult.wrongPassword) {
            try await changePassword(of: "ada", from: "12345678", to: "12345678")
        }
    }

    @Test func refusedDeletionKeepsTheCookie() async throws {
        try await register("ada", pass: "12345678")
        let callers = registration.callers
        let now = world.clock.now()
        let credential = try await world.database.write { connection in
            let address = try #require(EmailAddress("ada@example.com"))
            let user = try #require(try CompanionCallers.user(address, of: callers.organization, in: connection))
            // The last admin of the organization cannot be deleted.
            try UserRecords(connection).update(id: user.id, role: .admin, passwordHash: user.passwordHash, at: now)
            let admin = try #require(try UserRecords(connection).find(id: user.id))
            return try callers.sessions.begin(for: admin, in: connection)
        }
        var metadata = Metadata()
        metadata.append(name: "cookie", value: "member_companions=\(credential)")
        let context = CallContext(method: CompanionAccountServiceMethods.deleteCompanion, metadata: metadata)
        let outcome = try await app.account.deleteCompanion(DeleteCompanionRequest(), context: context)
        #expect(outcome.code == -1 && outcome.msg.contains("last admin"))
        #expect(context.responseMetadata.values("set-cookie").isEmpty)
        #expect(try await countMembers() == 1)
    }
}
