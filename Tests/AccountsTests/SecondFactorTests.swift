import Basics
import Crypto
import Database
import GRPCWire
import GatewayAPI
import GatewayFormats
import GatewayTesting
import Proto
import RPC
import TestSupport
import Testing

@testable import Accounts

/// An account with a second factor, and its authenticator app.
struct ProtectedAccount {
    let world: TestAccounts
    let token: String
    let app: TOTP
    let recoveryCodes: [String]

    init(_ configure: (inout AccountsConfiguration) -> Void = { _ in }) async throws {
        try await self.init(TestAccounts(configure))
    }

    init(_ world: TestAccounts) async throws {
        self.world = world
        token = try await world.login().accessToken
        let reply = try await world.enroll(password: TestAccounts.adminPassword, token: token)
        app = TOTP(secret: Secret(Self.decode(reply.secret)))
        recoveryCodes = try await world.confirm(code: app.code(step: TOTP.step(at: world.clock.now())), token: token)
        world.clock.advance(seconds: 60)
    }

    var code: String { app.code(step: TOTP.step(at: world.clock.now())) }

    /// Signs in with the password, and returns the challenge.
    func challenge() async throws -> String {
        let error = await refusal { _ = try await world.login() }
        #expect(error?.detail == .authSecondFactorRequired)
        return try #require(error?.metadata["challenge"])
    }

    private static func decode(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        var (bits, count) = (0, 0)
        for character in text.utf8 {
            bits = bits << 5 | (Base32.alphabet.firstIndex(of: character) ?? 0)
            count += 5
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            bits &= (1 << count) - 1
        }
        return bytes
    }
}

@Suite(.timeLimited) struct SecondFactorTests {
    @Test func passwordAloneOpensNothing() async throws {
        let account = try await ProtectedAccount()
        let challenge = try await account.challenge()
        let reply = try await account.world.complete(challenge, code: account.code)
        #expect(reply.user?.userName == "admin")
        _ = try account.world.call(UserAuthServiceMethods.listUsers, token: reply.accessToken)
        #expect(try await account.world.refresh(reply.refreshToken).user?.userName == "admin")
    }

    @Test func codeIsAcceptedOnce() async throws {
        let account = try await ProtectedAccount()
        let challenge = try await account.challenge()
        let code = account.code
        _ = try await account.world.complete(challenge, code: code)
        let again = await refusal { _ = try await account.world.complete(challenge, code: code) }
        #expect(again?.detail == .authInvalidCredential)
        account.world.clock.advance(seconds: 30)
        _ = try await account.world.complete(challenge, code: account.code)
    }

    @Test func aCodeSentManyTimesAtOnceOpensOneSession() async throws {
        let account = try await ProtectedAccount { $0.wrongCodesOfUser = 100 }
        let challenge = try await account.challenge()
        for code in [account.code, account.recoveryCodes[7]] {
            let opened = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<10 {
                    group.addTask {
                        await refusal { _ = try await account.world.complete(challenge, code: code) } == nil
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(opened == 1)
        }
    }

    @Test func recoveryCodeIsAcceptedOnce() async throws {
        let account = try await ProtectedAccount()
        #expect(account.recoveryCodes.count == 10)
        let challenge = try await account.challenge()
        _ = try await account.world.complete(challenge, code: account.recoveryCodes[3])
        let again = await refusal { _ = try await account.world.complete(challenge, code: account.recoveryCodes[3]) }
        #expect(again?.detail == .authInvalidCredential)
        #expect(try await account.world.account(token: account.token).recoveryCodesLeft == 9)
    }

    @Test func guessesOfAnHourAreLimited() async throws {
        let account = try await ProtectedAccount { ($0.wrongCodesOfUser, $0.wrongCodesOfUserInHour) = (3, 4) }
        var refusals: [RPCError?] = []
        for _ in 0..<3 {
            let challenge = try await account.challenge()
            for _ in 0..<2 {
                refusals.append(await refusal { _ = try await account.world.complete(challenge, code: "000000") })
            }
            account.world.clock.advance(seconds: 60)
        }
        #expect(refusals.map { $0?.status == .unavailable } == [false, false, false, false, true, true])
        let challenge = try await account.challenge()
        #expect(await refusal { _ = try await account.world.complete(challenge, code: account.code) } != nil)
        account.world.clock.advance(seconds: 3600)
        let later = try await account.challenge()
        _ = try await account.world.complete(later, code: account.code)
    }

    @Test func wrongCodesAreLimitedWhoeverSendsThem() async throws {
        let account = try await ProtectedAccount { $0.wrongCodesOfUser = 3 }
        let challenge = try await account.challenge()
        for index in 0..<3 {
            let error = await refusal {
                _ = try await account.world.complete(challenge, code: "000000", host: "198.51.100.\(index)")
            }
            #expect(error?.detail == .authInvalidCredential)
        }
        let limited = await refusal {
            _ = try await account.world.complete(challenge, code: account.code, host: "198.51.100.9")
        }
        #expect(limited?.status == .unavailable && limited?.detail == nil)
        // The address from which the user signed in before has limits of its own.
        _ = try await account.world.complete(challenge, code: account.code)
        account.world.clock.advance(seconds: 60)
        _ = try await account.world.complete(challenge, code: account.code, host: "198.51.100.9")
    }

    /// The holder of a stolen access token does not lock its user out, from any address.
    @Test func wrongCodesAndPasswordsOfASessionDoNotLimitSignIns() async throws {
        let account = try await ProtectedAccount {
            ($0.wrongCodesOfUser, $0.failedLoginsOfAccountFromAddress) = (3, 3)
        }
        let service = account.world.accounts.accountService
        var refusals: [RPCError?] = []
        for _ in 0..<4 {
            refusals.append(
                await refusal {
                    _ = try await service.removeSecondFactor(
                        RemoveSecondFactorRequest(code: "000000"),
                        context: account.world.call(AccountServiceMethods.removeSecondFactor, token: account.token))
                })
        }
        for _ in 0..<4 {
            refusals.append(
                await refusal {
                    _ = try await service.changePassword(
                        ChangePasswordRequest(currentPassword: "wrong password", newPassword: "another password"),
                        context: account.world.call(AccountServiceMethods.changePassword, token: account.token))
                })
        }
        let limited = ["PERMISSION_DENIED", "PERMISSION_DENIED", "PERMISSION_DENIED", "UNAVAILABLE"]
        #expect(refusals.compactMap { $0?.status.name } == limited + limited)
        let challenge = try await account.challenge()
        _ = try await account.world.complete(challenge, code: account.code)
        // And the other way round: wrong codes of sign-ins do not limit the session.
        for _ in 0..<4 {
            _ = await refusal { _ = try await account.world.complete(challenge, code: "000000") }
        }
        account.world.clock.advance(seconds: 20)
        let wrong = await refusal {
            _ = try await service.removeSecondFactor(
                RemoveSecondFactorRequest(code: "000000"),
                context: account.world.call(AccountServiceMethods.removeSecondFactor, token: account.token))
        }
        #expect(wrong?.status == .permissionDenied)
    }

    @Test func challengeExpiresAndIsNotForged() async throws {
        let account = try await ProtectedAccount()
        let challenge = try await account.challenge()
        var forged = Array(challenge.utf8)
        forged[10] ^= 1
        for text in ["", "dgwc_", "dgwc_AAAA", String(decoding: forged, as: UTF8.self), challenge + "A"] {
            let error = await refusal { _ = try await account.world.complete(text, code: account.code) }
            #expect(error?.detail == .authInvalidCredential, "\(text)")
        }
        account.world.clock.advance(seconds: 300)
        let late = await refusal { _ = try await account.world.complete(challenge, code: account.code) }
        #expect(late?.detail == .authInvalidCredential)
    }

    @Test func challengeEndsWithThePassword() async throws {
        let account = try await ProtectedAccount()
        let challenge = try await account.challenge()
        _ = try await account.world.accounts.accountService.changePassword(
            ChangePasswordRequest(currentPassword: TestAccounts.adminPassword, newPassword: "another password"),
            context: account.world.call(AccountServiceMethods.changePassword, token: account.token))
        let error = await refusal { _ = try await account.world.complete(challenge, code: account.code) }
        #expect(error?.detail == .authInvalidCredential)
    }

    @Test func factorHasNoEffectUntilItsFirstCode() async throws {
        let world = try await TestAccounts()
        let token = try await world.login().accessToken
        let wrong = await refusal { _ = try await world.enroll(password: "wrong password", token: token) }
        #expect(wrong?.status == .permissionDenied)
        _ = try await world.enroll(password: TestAccounts.adminPassword, token: token)
        #expect(
            await refusal { _ = try await world.confirm(code: "000000", token: token) }?.status == .permissionDenied)
        #expect(try await world.account(token: token).hasSecondFactor == false)
        _ = try await world.login()
    }

    @Test func removalNeedsACodeAndFreesTheSignIn() async throws {
        let account = try await ProtectedAccount()
        func remove(_ code: String) async -> RPCError? {
            await refusal {
                _ = try await account.world.accounts.accountService.removeSecondFactor(
                    RemoveSecondFactorRequest(code: code),
                    context: account.world.call(AccountServiceMethods.removeSecondFactor, token: account.token))
            }
        }
        #expect(await remove("000000")?.status == .permissionDenied)
        try await account.world.requireSecondFactor(of: "system", true)
        #expect(await remove(account.code)?.status == .failedPrecondition)
        try await account.world.requireSecondFactor(of: "system", false)
        #expect(await remove(account.code) == nil)
        _ = try await account.world.login()
    }

    @Test func newRecoveryCodesReplaceTheOldOnes() async throws {
        let account = try await ProtectedAccount()
        let reply = try await account.world.accounts.accountService.replaceRecoveryCodes(
            ReplaceRecoveryCodesRequest(code: account.code),
            context: account.world.call(AccountServiceMethods.replaceRecoveryCodes, token: account.token))
        #expect(Set(reply.recoveryCodes).isDisjoint(with: account.recoveryCodes))
        let challenge = try await account.challenge()
        let old = await refusal { _ = try await account.world.complete(challenge, code: account.recoveryCodes[0]) }
        #expect(old?.detail == .authInvalidCredential)
        _ = try await account.world.complete(challenge, code: reply.recoveryCodes[0])
    }

    @Test func adminResetsALostFactorAndIsAudited() async throws {
        let account = try await ProtectedAccount()
        let world = account.world
        let management = world.accounts.identityManagementService
        func reset() async -> RPCError? {
            await refusal {
                _ = try await management.resetSecondFactor(
                    ResetSecondFactorRequest(userName: "admin"),
                    context: world.call(IdentityManagementServiceMethods.resetSecondFactor, token: account.token))
            }
        }
        #expect(await reset() == nil)
        #expect(try world.audit().last == "user:system/admin system ResetSecondFactor users/1 OK 1")
        #expect(await reset()?.status == .failedPrecondition)
        _ = try await world.login()
    }

    @Test func policyNeedsASecondFactorOfItsAdmin() async throws {
        let account = try await ProtectedAccount()
        let world = account.world
        func require(token: String) async -> RPCError? {
            await refusal {
                _ = try await world.accounts.identityManagementService.setSignInPolicy(
                    SetSignInPolicyRequest(policy: SignInPolicy(requiresSecondFactor: true)),
                    context: world.call(IdentityManagementServiceMethods.setSignInPolicy, token: token))
            }
        }
        let boss = try await world.createOrganization("acme", token: account.token)
        #expect(await require(token: boss)?.status == .failedPrecondition)
        // The session in which a factor is set up counts as opened with it.
        #expect(await require(token: account.token) == nil)
        _ = try world.call(UserAuthServiceMethods.listUsers, token: account.token)
        #expect(try await world.account(token: account.token).secondFactorMissing == false)
    }

    @Test func sessionWithoutARequiredFactorSetsOneUpAndGoesOn() async throws {
        let world = try await TestAccounts()
        let token = try await world.login().accessToken
        let robot = try await world.service(token: token).token
        try await world.requireSecondFactor(of: "system", true)
        let refused = await refusal { _ = try world.call(UserAuthServiceMethods.listUsers, token: token) }
        #expect(refused?.status == .permissionDenied)
        #expect(try await world.account(token: token).secondFactorMissing)
        // Service accounts have no second factor.
        _ = try world.call(UserAuthServiceMethods.listUsers, token: robot)
        let reply = try await world.enroll(password: TestAccounts.adminPassword, token: token)
        #expect(reply.otpauthURI.hasPrefix("otpauth://totp/data-gateway:system%2Fadmin?secret=\(reply.secret)&"))
        let found = try world.database.readBlocking { try SecondFactorRecords($0).find(userID: 1)?.sealed }
        let sealed = try #require(found)
        let secrets = SealedValues(key: world.environment.keyring.key(.secondFactors))
        let secret = try #require(secrets.open(sealed, of: Array("users/1".utf8)))
        let app = TOTP(secret: Secret(secret))
        _ = try await world.confirm(code: app.code(step: TOTP.step(at: world.clock.now())), token: token)
        _ = try world.call(UserAuthServiceMethods.listUsers, token: token)
    }
}
