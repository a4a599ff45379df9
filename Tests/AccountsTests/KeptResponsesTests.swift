import Basics
import Database
import GatewayTesting
import Proto
import TestSupport
import Testing

@testable import Accounts
@testable import RPC

/// Calls that a balancer sends again.
@Suite(.timeLimited) struct KeptResponsesTests {
    private func request(_ name: String) -> CreateUserRequest {
        CreateUserRequest(userName: name, password: "a long enough password", role: "viewer")
    }

    private func create(_ name: String, _ callID: String?, at world: TestAccounts) async throws -> CreateUserResponse {
        let token = try await world.login().accessToken
        let context = try world.call(UserAuthServiceMethods.createUser, token: token)
        context.balancedCallID = callID
        return try await world.accounts.userAuthService.createUser(request(name), context: context)
    }

    private func kept(_ world: TestAccounts) throws -> Int {
        try world.database.readBlocking { connection in
            try connection.query("SELECT call_id FROM kept_responses") { $0.text("call_id") }.count
        }
    }

    @Test func secondAttemptGetsTheResponseToTheFirstOne() async throws {
        let world = try await TestAccounts()
        let first = try await create("eve", "one", at: world)
        #expect(try await create("eve", "one", at: world) == first)
        await #expect(throws: RPCError.self) { try await create("eve", "two", at: world) }
        #expect(try kept(world) == 1)
    }

    @Test func callWithoutANameKeepsNothing() async throws {
        let world = try await TestAccounts()
        _ = try await create("eve", nil, at: world)
        #expect(try kept(world) == 0)
    }

    @Test func refusedCallKeepsNothing() async throws {
        let world = try await TestAccounts()
        _ = try await create("eve", nil, at: world)
        await #expect(throws: RPCError.self) { try await create("eve", "one", at: world) }
        #expect(try kept(world) == 0)
    }

    @Test func responseIsForgottenAfterAMinute() async throws {
        let world = try await TestAccounts()
        _ = try await create("eve", "one", at: world)
        world.clock.advance(seconds: 61)
        await #expect(throws: RPCError.self) { try await create("eve", "one", at: world) }
        _ = try await world.accounts.sweepSessions(try #require(world.clockGuard.permit()))
        #expect(try kept(world) == 0)
    }

    @Test func responseIsSealed() async throws {
        let world = try await TestAccounts()
        _ = try await create("eve", "one", at: world)
        let row = try world.database.readBlocking { connection in
            try connection.first("SELECT response FROM kept_responses") { $0.blob("response") }
        }
        let text = String(decoding: try #require(row), as: UTF8.self)
        #expect(!text.contains("eve"))
    }
}
