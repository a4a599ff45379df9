import Basics
import Crypto
import Database
import GatewayAPI
import GatewayTesting
import Proto
import RPC
import TestSupport
import Testing
import Wire

@testable import Accounts

@Suite(.timeLimited) struct ExchangeCredentialTests {
    @Test func aSiteKeyIsExchangedForATokenThatOpensUploads() async throws {
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        let site = try await world.createSite(token: admin)
        let key = try await world.createKey(site: site.siteID, token: admin)
        let reply = try await world.exchange(key.credential)
        #expect(reply.tokenType == "Bearer")
        #expect(reply.expiresAtUnix == world.clock.now().seconds + 900)
        #expect(reply.principal == nil)
        let context = try world.call(DataGatewayServiceMethods.createLogicalUpload, token: reply.accessToken)
        #expect(try context.keyOwner.siteID == site.siteID)
    }

    @Test func malformedUnknownAndWrongAreOneRefusal() async throws {
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        let site = try await world.createSite(token: admin)
        let good = try await world.createKey(site: site.siteID, token: admin)
        let keyID = good.apiKey?.apiKeyID ?? ""
        let credentials = [
            "", "nonsense", OpaqueToken(.apiKey, id: "0193f3a0-0000-7000-8000-000000000001").text,
            OpaqueToken(.apiKey, id: keyID).text, OpaqueToken(.refresh, id: keyID).text,
        ]
        var refusals: Set<RPCError> = []
        for credential in credentials {
            if let error = await refusal({ _ = try await world.exchange(credential) }) { refusals.insert(error) }
        }
        #expect(refusals.map(\.detail) == [.authInvalidCredential])
        #expect(try await world.exchange(good.credential).accessToken.isEmpty == false)
    }

    @Test func aKeyThatMayNotBeUsedSaysWhyOnceItsSecretIsProven() async throws {
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        let site = try await world.createSite(token: admin)
        let expiry = Timestamp(world.clock.now().adding(seconds: 60))
        let expiring = try await world.createKey(site: site.siteID, token: admin, expiredAt: expiry)
        let disabled = try await world.createKey(site: site.siteID, token: admin, status: 2)
        let good = try await world.createKey(site: site.siteID, token: admin)
        _ = try await world.exchange(expiring.credential)
        world.clock.advance(seconds: 60)
        #expect(await refusal { _ = try await world.exchange(expiring.credential) }?.detail == .authKeyExpired)
        #expect(await refusal { _ = try await world.exchange(disabled.credential) }?.detail == .authKeyDisabled)
        _ = try await world.adminService.disableSite(
            DisableSiteRequest(siteID: site.siteID),
            context: world.call(AdminAuthServiceMethods.disableSite, token: admin))
        #expect(await refusal { _ = try await world.exchange(good.credential) }?.detail == .authSiteDisabled)
        let wrong = OpaqueToken(.apiKey, id: disabled.apiKey?.apiKeyID ?? "").text
        #expect(await refusal { _ = try await world.exchange(wrong) }?.detail == .authInvalidCredential)
    }

    @Test func wrongSecretsOfOneKeyAreLimitedAndTheRightOneIsNot() async throws {
        let world = try await TestAccounts { $0.wrongCredentialsOfKey = 3 }
        let admin = try await world.login().accessToken
        let site = try await world.createSite(token: admin)
        let key = try await world.createKey(site: site.siteID, token: admin)
        let wrong = OpaqueToken(.apiKey, id: key.apiKey?.apiKeyID ?? "").text
        for _ in 0..<3 {
            #expect(await refusal { _ = try await world.exchange(wrong) }?.detail == .authInvalidCredential)
        }
        let limited = await refusal { _ = try await world.exchange(wrong) }
        #expect(limited?.status == .unavailable)
        #expect(limited?.detail == nil)
        #expect(limited?.retryAfterMilliseconds == 20_000)
        _ = try await world.exchange(key.credential)
        for _ in 0..<50 {
            #expect(await refusal { _ = try await world.exchange("nonsense") }?.detail == .authInvalidCredential)
        }
    }

    @Test func passingTroubleIsABareUnavailable() async throws {
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        let site = try await world.createSite(token: admin)
        let key = try await world.createKey(site: site.siteID, token: admin)
        let context = try world.call(AuthServiceMethods.exchangeCredential)
        world.database.close()
        let error = await refusal {
            _ = try await world.accounts.authService.exchangeCredential(
                ExchangeCredentialRequest(credential: key.credential), context: context)
        }
        #expect(error?.status == .unavailable)
        #expect(error?.detail == nil)
    }
}

@Suite(.timeLimited) struct LoginTests {
    @Test func theRightPasswordOpensASession() async throws {
        let world = try await TestAccounts()
        let reply = try await world.login()
        #expect(reply.tokenType == "Bearer")
        #expect(reply.accessTokenExpiresAtUnix == world.clock.now().seconds + 900)
        #expect(reply.refreshTokenExpiresAtUnix == world.clock.now().seconds + 30 * 86_400)
        let user = try #require(reply.user)
        #expect((user.organization, user.userName, user.role) == ("system", "admin", "admin"))
        #expect(user.lastLoginAt == Timestamp(world.clock.now()))
        let caller = try world.call(UserAuthServiceMethods.listUsers, token: reply.accessToken).user
        #expect(caller.name == "admin")
        #expect(caller.isSystem)
    }

    @Test func wrongPasswordUnknownUserAndUnknownOrganizationAreOneRefusal() async throws {
        let world = try await TestAccounts()
        var refusals: Set<RPCError> = []
        for (organization, name, password) in [
            ("system", "admin", "wrong"), ("system", "nobody", TestAccounts.adminPassword),
            ("system", String(repeating: "x", count: 100_000), TestAccounts.adminPassword),
            ("elsewhere", "admin", TestAccounts.adminPassword), ("", "", ""),
        ] {
            let error = await refusal {
                _ = try await world.login(name, organization: organization, password: password)
            }
            if let error { refusals.insert(error) }
        }
        #expect(refusals.map(\.detail) == [.authInvalidCredential])
    }

    @Test func failuresAreLimitedByAccountAndSuccessesAreNot() async throws {
        let world = try await TestAccounts { $0.failedLoginsOfAccountFromAddress = 2 }
        for _ in 0..<5 { _ = try await world.login() }
        for _ in 0..<2 {
            #expect(await refusal { _ = try await world.login(password: "wrong") }?.detail == .authInvalidCredential)
        }
        let limited = await refusal { _ = try await world.login() }
        #expect(limited?.status == .unavailable)
        #expect(limited?.detail == nil)
        _ = try await world.login(host: "198.51.100.1")
        world.clock.advance(seconds: 60)
        _ = try await world.login()
    }

    @Test func failuresFromManyAddressesAreLimitedToo() async throws {
        let world = try await TestAccounts { $0.failedLoginsOfAccount = 3 }
        for index in 0..<3 {
            let error = await refusal { _ = try await world.login(password: "wrong", host: "198.51.100.\(index)") }
            #expect(error?.detail == .authInvalidCredential)
        }
        #expect(await refusal { _ = try await world.login(host: "198.51.100.9") }?.status == .unavailable)
    }

    @Test func addressesThatSignedInPassTheLimitOfTheAccount() async throws {
        let world = try await TestAccounts { $0.failedLoginsOfAccount = 3 }
        _ = try await world.login(host: "2001:db8:1:2::1")
        for round in 0..<3 {
            for index in 0..<3 {
                let host = "198.51.\(round).\(index)"
                let error = await refusal { _ = try await world.login(password: "wrong", host: host) }
                #expect(error?.status == (round == 0 ? .unauthenticated : .unavailable))
            }
            _ = try await world.login(host: "2001:db8:1:2::9")
        }
        #expect(await refusal { _ = try await world.login(host: "2001:db8:1:3::1") }?.status == .unavailable)
    }

    @Test func onlyTheLatestAddressesOfAUserAreKept() async throws {
        let world = try await TestAccounts()
        for index in 0..<20 {
            world.clock.advance(seconds: 1)
            _ = try await world.login(host: "198.51.100.\(index)")
        }
        let kept = try world.database.readBlocking {
            try $0.query("SELECT address FROM login_addresses ORDER BY last_login_at") { $0.text(0) }
        }
        #expect(kept == (4..<20).map { "198.51.100.\($0)" })
    }

    @Test func attemptsThatFoundTheQueueFullAreNotFailures() async throws {
        let world = try await TestAccounts {
            $0.waitingPasswords = 1
            $0.failedLoginsOfAccountFromAddress = 3
        }
        var busy = 0
        // A busy machine may run the tasks of a round one after the other, so that none of them finds the queue full.
        while busy <= 3 {
            busy += await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<40 {
                    group.addTask {
                        let error = await refusal { _ = try await world.login(host: "192.0.2.9") }
                        return error?.message == "too many logins are in progress: try again later"
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
        }
        #expect(try await world.login(host: "192.0.2.9").user?.userName == "admin")
    }

    @Test func failuresAreLimitedByAddress() async throws {
        let world = try await TestAccounts { $0.failedLoginsOfAddress = 2 }
        for name in ["a", "b"] {
            #expect(await refusal { _ = try await world.login(name) }?.detail == .authInvalidCredential)
        }
        #expect(await refusal { _ = try await world.login() }?.status == .unavailable)
        _ = try await world.login(host: "198.51.100.1")
    }

    @Test func deniedLoginsBecomeOneAuditRowAMinute() async throws {
        let world = try await TestAccounts()
        for _ in 0..<3 { _ = await refusal { _ = try await world.login(password: "wrong") } }
        world.clock.advance(seconds: 61)
        _ = await refusal { _ = try await world.login(password: "wrong") }
        try await world.database.write { _ in }
        #expect(try world.audit() == ["nobody  Login  AUTH_INVALID_CREDENTIAL 4"])
    }

    @Test func theFirstAdminsPasswordIsKeptBeforeItWorks() async throws {
        let world = try await TestAccounts()
        #expect(try await world.accounts.createFirstAdmin(password: nil, keep: { _ in }) == false)
        let other = try await TestAccounts()
        try await other.database.write { connection in
            try connection.execute("DELETE FROM users")
            try connection.execute("DELETE FROM organizations")
        }
        await #expect(throws: CancellationError.self) {
            try await other.accounts.createFirstAdmin(password: nil, keep: { _ in throw CancellationError() })
        }
        await #expect(throws: FirstAdminError.self) {
            try await other.accounts.createFirstAdmin(password: Secret("short"), keep: { _ in })
        }
        var kept = ""
        try await other.accounts.createFirstAdmin(password: nil, keep: { kept = $0.exposedText })
        #expect(kept.count == 24)
        _ = try await other.login(password: kept)
    }

    @Test func anOutdatedHashIsReplacedAtLogin() async throws {
        let world = try await TestAccounts()
        // The argon2id hash of the password with 8 KiB and one pass, made by the reference command.
        let weak = "$argon2id$v=19$m=8,t=1,p=1$c29tZXNhbHRzb21lc2FsdA$fGboIvzlkt1eU7JnWpaFoCiFdQqj41xKJW/x6HC4Hu4"
        try await world.database.write { _ = try $0.execute("UPDATE users SET password_hash = $1", weak) }
        _ = try await world.login()
        let now = try world.database.readBlocking { try $0.first("SELECT password_hash FROM users") { $0.text(0) } }
        #expect(now?.hasPrefix("$argon2id$v=19$m=19456,t=2,p=1$") == true)
        _ = try await world.login()
    }
}

@Suite(.timeLimited) struct RefreshTokenTests {
    @Test func aTokenIsRotatedAndItsSuccessorGoesOn() async throws {
        let world = try await TestAccounts()
        var token = try await world.login().refreshToken
        for _ in 0..<3 {
            world.clock.advance(seconds: 3600)
            let reply = try await world.refresh(token)
            #expect(reply.refreshToken != token)
            _ = try world.call(UserAuthServiceMethods.listUsers, token: reply.accessToken)
            token = reply.refreshToken
        }
    }

    @Test func aLostAnswerIsGivenAgainWithinTheGrace() async throws {
        let world = try await TestAccounts()
        let token = try await world.login().refreshToken
        let first = try await world.refresh(token)
        world.clock.advance(seconds: 29)
        #expect(try await world.refresh(token).refreshToken == first.refreshToken)
        _ = try await world.refresh(first.refreshToken)
    }

    @Test func reuseAfterTheGraceEndsTheFamily() async throws {
        let world = try await TestAccounts()
        let token = try await world.login().refreshToken
        let other = try await world.login().refreshToken
        let successor = try await world.refresh(token).refreshToken
        world.clock.advance(seconds: 30)
        #expect(await refusal { _ = try await world.refresh(token) }?.detail == .authInvalidCredential)
        #expect(await refusal { _ = try await world.refresh(successor) }?.detail == .authInvalidCredential)
        _ = try await world.refresh(other)
    }

    @Test func reuseOnceTheSuccessorWasUsedEndsTheFamily() async throws {
        let world = try await TestAccounts()
        let token = try await world.login().refreshToken
        let successor = try await world.refresh(token).refreshToken
        let live = try await world.refresh(successor).refreshToken
        #expect(await refusal { _ = try await world.refresh(token) } != nil)
        #expect(await refusal { _ = try await world.refresh(live) } != nil)
    }

    @Test func aHundredAtOnceHaveOneSuccessor() async throws {
        let world = try await TestAccounts()
        let token = try await world.login().refreshToken
        let successors = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<100 { group.addTask { try await world.refresh(token).refreshToken } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(successors.count == 1)
        #expect(
            try world.database.readBlocking { try $0.first("SELECT count(*) FROM refresh_tokens") { $0.int(0) } } == 2)
    }

    @Test func itExpiresAndGuessesAreRefused() async throws {
        let world = try await TestAccounts()
        let token = try await world.login().refreshToken
        let parsed = try #require(OpaqueToken(.refresh, text: token))
        let guess = OpaqueToken(.refresh, id: parsed.id).text
        for wrong in ["", "nonsense", guess] {
            #expect(await refusal { _ = try await world.refresh(wrong) }?.detail == .authInvalidCredential)
        }
        world.clock.advance(seconds: 30 * 86_400)
        #expect(await refusal { _ = try await world.refresh(token) }?.detail == .authInvalidCredential)
    }

    @Test func logoutEndsTheSession() async throws {
        let world = try await TestAccounts()
        let token = try await world.login().refreshToken
        let successor = try await world.refresh(token).refreshToken
        for _ in 0..<2 {
            _ = try await world.accounts.sessionService.logout(
                LogoutRequest(refreshToken: successor), context: world.call(SessionServiceMethods.logout))
        }
        #expect(await refusal { _ = try await world.refresh(successor) } != nil)
        #expect(try world.audit().filter { $0.contains("Logout") } == ["user:system/admin system Logout users/1 OK 1"])
    }

    @Test func aLoginWhileTheClockIsAheadEndsNoOtherSession() async throws {
        let world = try await TestAccounts()
        let session = try await world.login().refreshToken
        world.clock.step(seconds: 400 * 86_400)
        _ = try await world.login()
        world.clock.step(seconds: -400 * 86_400)
        let refreshed = try await world.refresh(session)
        let context = try world.call(AdminAuthServiceMethods.listSites, token: refreshed.accessToken)
        #expect(try Caller(context).user.name == "admin")
    }
}
