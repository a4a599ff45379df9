import Basics
import Database
import GatewayFormats
import GatewayTesting
import Proto
import RPC
import TestSupport
import Testing
import Wire

@testable import Accounts

@Suite(.timeLimited) struct OwnSessionsTests {
    private func revoke(_ id: String, token: String, in world: TestAccounts) async -> RPCError? {
        await refusal {
            _ = try await world.accounts.sessionService.revokeSession(
                RevokeSessionRequest(sessionID: id),
                context: world.call(SessionServiceMethods.revokeSession, token: token))
        }
    }

    @Test func sessionsAreListedWithTheirPlaceAndLastUse() async throws {
        let world = try await TestAccounts()
        let first = try await world.login(host: "192.0.2.1")
        world.clock.advance(seconds: 10)
        let second = try await world.login(userAgent: "Navigator/5.0\u{7} (X11)", host: "192.0.2.2")
        let sessions = try await world.sessions(token: first.accessToken)
        #expect(sessions.map(\.address) == ["192.0.2.2", "192.0.2.1"])
        #expect(sessions.map(\.userAgent) == ["Navigator/5.0 (X11)", ""])
        #expect(sessions.map(\.isCurrent) == [false, true])
        #expect(sessions[0].createdAt == Timestamp(world.clock.now()))
        world.clock.advance(seconds: 61)
        _ = try await world.refresh(first.refreshToken)
        let later = try await world.sessions(token: second.accessToken)
        #expect(later.map(\.address) == ["192.0.2.7", "192.0.2.2"])
        #expect(later[0].lastUsedAt == Timestamp(world.clock.now()))
    }

    @Test func revokedSessionIsRefusedAtTheNextCall() async throws {
        let world = try await TestAccounts()
        let (own, other) = (try await world.login(), try await world.login())
        let id = try #require(try await world.sessions(token: own.accessToken).first { !$0.isCurrent }?.sessionID)
        #expect(await revoke(id, token: own.accessToken, in: world) == nil)
        #expect(try world.audit().last == "user:system/admin system RevokeSession sessions/\(id) OK 1")
        let refused = await refusal { _ = try world.call(UserAuthServiceMethods.listUsers, token: other.accessToken) }
        #expect(refused?.detail == .unauthenticated)
        #expect(await refusal { _ = try await world.refresh(other.refreshToken) }?.detail == .authInvalidCredential)
        _ = try world.call(UserAuthServiceMethods.listUsers, token: own.accessToken)
        #expect(await revoke(id, token: own.accessToken, in: world)?.status == .notFound)
    }

    @Test func refreshDuringARevocationSavesNoToken() async throws {
        let world = try await TestAccounts()
        let own = try await world.login().accessToken
        for _ in 0..<10 {
            let other = try await world.login()
            let id = try #require(try await world.sessions(token: own).first { !$0.isCurrent }?.sessionID)
            async let revoked = revoke(id, token: own, in: world)
            async let refreshed = try? await world.refresh(other.refreshToken)
            let (failure, tokens) = (await revoked, await refreshed)
            #expect(failure == nil)
            for token in [other.refreshToken] + [tokens?.refreshToken].compactMap({ $0 }) {
                let refused = await refusal { _ = try await world.refresh(token) }
                #expect(refused?.detail == .authInvalidCredential)
            }
            for token in [other.accessToken] + [tokens?.accessToken].compactMap({ $0 }) {
                let refused = await refusal {
                    _ = try world.call(UserAuthServiceMethods.listUsers, token: token)
                }
                #expect(refused?.detail == .unauthenticated)
            }
        }
    }

    @Test func sessionsOfOthersCannotBeRevoked() async throws {
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        _ = try await world.createUser("vera", role: "viewer", token: admin)
        let vera = try await world.login("vera", password: "long enough").accessToken
        let id = try #require(try await world.sessions(token: admin).first?.sessionID)
        #expect(await revoke(id, token: vera, in: world)?.status == .notFound)
        #expect(try await world.sessions(token: vera).count == 1)
        _ = try world.call(UserAuthServiceMethods.listUsers, token: admin)
    }

    @Test func allOthersEndAndTheOwnStays() async throws {
        let world = try await TestAccounts()
        let own = try await world.login()
        let others = [try await world.login(), try await world.login()]
        func revokeOthers() async throws -> Int32 {
            try await world.accounts.sessionService.revokeOtherSessions(
                RevokeOtherSessionsRequest(),
                context: world.call(SessionServiceMethods.revokeOtherSessions, token: own.accessToken)
            ).revokedCount
        }
        #expect(try await revokeOthers() == 2)
        for other in others {
            #expect(
                await refusal { _ = try world.call(UserAuthServiceMethods.listUsers, token: other.accessToken) } != nil)
            #expect(await refusal { _ = try await world.refresh(other.refreshToken) } != nil)
        }
        let lines = try world.audit()
        #expect(try await revokeOthers() == 0)
        #expect(try world.audit() == lines)
        _ = try await world.refresh(own.refreshToken)
    }

    @Test func theSessionUsedLeastRecentlyEndsWhenThereAreTooMany() async throws {
        let world = try await TestAccounts { $0.maximumSessionsPerUser = 2 }
        var logins: [LoginResponse] = []
        for _ in 0..<2 {
            logins.append(try await world.login())
            world.clock.advance(seconds: 1)
        }
        logins[0].refreshToken = try await world.refresh(logins[0].refreshToken).refreshToken
        world.clock.advance(seconds: 1)
        _ = try await world.login()
        _ = try await world.refresh(logins[0].refreshToken)
        #expect(await refusal { _ = try await world.refresh(logins[1].refreshToken) } != nil)
    }

    @Test func expiredSessionsAndTokensAreSwept() async throws {
        let world = try await TestAccounts()
        let token = try await world.login().accessToken
        _ = try await world.createToken("soon", role: "viewer", lifetime: 60, token: token)
        func count() throws -> [Int] {
            try world.database.readBlocking { connection in
                try ["sessions", "refresh_tokens", "api_tokens"].map { table in
                    try connection.first("SELECT count(*) FROM \(table)") { $0.int(0) } ?? 0
                }
            }
        }
        let permit = try #require(world.clockGuard.permit())
        #expect(try await world.accounts.sweepSessions(permit) == 0)
        #expect(try count() == [1, 1, 1])
        world.clock.advance(seconds: 31 * 86_400)
        let later = try #require(world.clockGuard.permit())
        #expect(try await world.accounts.sweepSessions(later) == 2)
        #expect(try count() == [0, 0, 0])
    }

    @Test func tokenWithoutASessionIsRefused() async throws {
        let world = try await TestAccounts()
        _ = try await world.login()
        let (text, _) = world.accounts.tokens.issue(.user, subject: "1", epoch: 1, at: world.clock.now())
        #expect(
            await refusal { _ = try world.call(UserAuthServiceMethods.listUsers, token: text) }?.detail
                == .unauthenticated)
    }

    @Test func changedPasswordEndsTheOtherSessionsOnly() async throws {
        let world = try await TestAccounts()
        let (own, other) = (try await world.login(), try await world.login())
        func change(from current: String, to new: String) async -> RPCError? {
            await refusal {
                let reply = try await world.accounts.accountService.changePassword(
                    ChangePasswordRequest(currentPassword: current, newPassword: new),
                    context: world.call(AccountServiceMethods.changePassword, token: own.accessToken))
                #expect(reply.revokedSessions == 1)
            }
        }
        #expect(await change(from: "not the password", to: "another password")?.status == .permissionDenied)
        #expect(await change(from: TestAccounts.adminPassword, to: "short")?.detail == .invalidArgument)
        #expect(
            await change(from: TestAccounts.adminPassword, to: TestAccounts.adminPassword)?.detail == .invalidArgument)
        #expect(await change(from: TestAccounts.adminPassword, to: "another password") == nil)
        #expect(try world.audit().last == "user:system/admin system ChangePassword users/1 OK 1")
        _ = try await world.refresh(own.refreshToken)
        #expect(await refusal { _ = try world.call(UserAuthServiceMethods.listUsers, token: other.accessToken) } != nil)
        #expect(await refusal { _ = try await world.login() }?.detail == .authInvalidCredential)
        _ = try await world.login(password: "another password")
    }

    @Test func wrongCurrentPasswordsAreLimited() async throws {
        let world = try await TestAccounts { $0.failedLoginsOfAccountFromAddress = 2 }
        let token = try await world.login().accessToken
        func change(from current: String) async -> StatusCode? {
            await refusal {
                _ = try await world.accounts.accountService.changePassword(
                    ChangePasswordRequest(currentPassword: current, newPassword: "another password"),
                    context: world.call(AccountServiceMethods.changePassword, token: token))
            }?.status
        }
        for _ in 0..<2 { #expect(await change(from: "wrong password") == .permissionDenied) }
        #expect(await change(from: TestAccounts.adminPassword) == .unavailable)
        world.clock.advance(seconds: 60)
        #expect(await change(from: TestAccounts.adminPassword) == nil)
    }
}
