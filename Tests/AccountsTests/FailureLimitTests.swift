import Basics
import Database
import GRPCWire
import GatewayFormats
import GatewayTesting
import Proto
import RPC
import TestSupport
import Testing

@testable import Accounts

/// The limits of failures over several gateways with one database, and over restarts.
@Suite(.timeLimited) struct FailureLimitTests {
    private let world: TestAccounts
    private let other: Accounts

    init() async throws {
        let configure = { @Sendable (configuration: inout AccountsConfiguration) in
            (configuration.failedLoginsOfAccount, configuration.wrongCodesOfUser) = (4, 4)
        }
        world = try await TestAccounts(configure)
        other = try Self.gateway(world, configure)
    }

    /// Returns another gateway with the same database, or the same one after a restart.
    private static func gateway(
        _ world: TestAccounts, _ configure: (inout AccountsConfiguration) -> Void
    ) throws -> Accounts {
        var configuration = AccountsConfiguration()
        configure(&configuration)
        return try Accounts(
            world.environment, keysDirectory: world.directory + "/keys", access: TestAccounts.access,
            configuration: configuration)
    }

    private func login(
        at accounts: Accounts, _ password: String = TestAccounts.adminPassword, number: Int
    ) async throws -> LoginResponse {
        try await accounts.authService.login(
            LoginRequest(organization: "system", userName: "admin", password: password),
            context: try world.call(AuthServiceMethods.login, host: "198.51.100.\(number)"))
    }

    private func failAtBoth() async throws {
        for number in 0..<4 {
            let error = await refusal {
                _ = try await login(at: number.isMultiple(of: 2) ? world.accounts : other, "wrong", number: number)
            }
            #expect(error?.detail == .authInvalidCredential)
        }
    }

    /// The times of all rows.
    private var ends: [Int64] {
        get throws {
            try world.database.readBlocking {
                try $0.query("SELECT ends_at FROM sign_in_failures ORDER BY ends_at") { $0.int64("ends_at") }
            }
        }
    }

    @Test func anAccountHasOneLimitAtAllGateways() async throws {
        try await failAtBoth()
        for accounts in [world.accounts, other] {
            let error = await refusal { _ = try await login(at: accounts, number: 9) }
            #expect(error?.status == .unavailable && error?.retryAfterMilliseconds ?? 0 > 14_000)
        }
        world.clock.advance(seconds: 15)
        _ = try await login(at: other, number: 9)
        // The address is known from now on.
        try await failOnce(at: other)
        _ = try await login(at: world.accounts, number: 9)
    }

    private func failOnce(at accounts: Accounts) async throws {
        let error = await refusal { _ = try await login(at: accounts, "wrong", number: 10) }
        #expect(error?.detail == .authInvalidCredential)
    }

    @Test func restartForgetsNoFailures() async throws {
        try await failAtBoth()
        let restarted = try Self.gateway(world) { $0.failedLoginsOfAccount = 4 }
        #expect(await refusal { _ = try await login(at: restarted, number: 9) }?.status == .unavailable)
        world.clock.advance(seconds: 60)
        _ = try await login(at: restarted, number: 9)
    }

    @Test func successAndRefusalWriteNothing() async throws {
        _ = try await login(at: world.accounts, number: 7)
        #expect(try ends == [])
        try await failAtBoth()
        let before = try ends
        #expect(before == [world.clock.now().adding(seconds: 60).microseconds])
        for number in 20..<60 {
            let accounts = number.isMultiple(of: 2) ? world.accounts : other
            #expect(
                await refusal { _ = try await login(at: accounts, "wrong", number: number) }?.status == .unavailable)
        }
        #expect(try ends == before)
    }

    /// A clock that was wrong when failures were counted is set back by a day.
    @Test func limitEndsAfterItsTimeAlthoughTheClockWasSetBack() async throws {
        world.clock.advance(seconds: 86_400)
        try await failAtBoth()
        world.clock.step(seconds: -86_400)
        // The row is a day ahead, and must not lock the owner out for a day.
        let restarted = try Self.gateway(world) { $0.failedLoginsOfAccount = 4 }
        let error = await refusal { _ = try await login(at: restarted, "wrong", number: 8) }
        #expect(error?.status == .unavailable)
        #expect(try ends == [world.clock.now().adding(seconds: 60).microseconds])
        world.clock.advance(seconds: 60)
        _ = try await login(at: restarted, number: 9)
    }

    @Test func forgivenFailuresAreRemoved() async throws {
        try await failAtBoth()
        world.clock.advance(seconds: 59)
        let permit = try #require(world.clockGuard.permit())
        _ = try await world.accounts.sweepSessions(permit)
        #expect(try ends.count == 1)
        world.clock.advance(seconds: 1)
        _ = try await world.accounts.sweepSessions(permit)
        #expect(try ends == [])
    }

    @Test func wrongCodesHaveOneLimitAtAllGateways() async throws {
        let account = try await ProtectedAccount(world)
        let challenge = try await account.challenge()
        func complete(_ code: String, at accounts: Accounts) async throws {
            _ = try await accounts.sessionService.completeLogin(
                CompleteLoginRequest(challenge: challenge, code: code),
                context: try world.call(SessionServiceMethods.completeLogin, host: "198.51.100.9"))
        }
        for number in 0..<4 {
            let accounts = number.isMultiple(of: 2) ? world.accounts : other
            let error = await refusal { try await complete("000000", at: accounts) }
            #expect(error?.detail == .authInvalidCredential)
        }
        for accounts in [world.accounts, other] {
            #expect(await refusal { try await complete(account.code, at: accounts) }?.status == .unavailable)
        }
        world.clock.advance(seconds: 60)
        try await complete(account.code, at: other)
    }
}
