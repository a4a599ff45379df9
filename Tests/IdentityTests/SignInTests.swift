import Accounts
import Basics
import Crypto
import Foundation
import GRPCWire
import GatewayFormats
import GatewayTesting
import Proto
import RPC
import TestSupport
import Testing

@testable import Identity

@Suite(.timeLimited) struct SignInTests {
    @Test func firstSignInMakesAnAccountAndTheNextOnesUseIt() async throws {
        let identity = try await TestIdentity()
        let first = try await identity.signIn(identity.corpToken())
        #expect(first.user?.userName == "ada")
        #expect(first.user?.organization == "acme")
        #expect(first.user?.role == "operator")
        let second = try await identity.signIn(identity.corpToken(["jti": "2"]))
        #expect(second.user?.userID == first.user?.userID)
        #expect(try await identity.users() == ["boss", "ada"])
        _ = try identity.world.call(AdminAuthServiceMethods.listSites, token: second.accessToken)
    }

    @Test func accountOfAProviderHasNoPassword() async throws {
        let identity = try await TestIdentity()
        try await identity.signIn(identity.corpToken())
        for password in ["", "long enough"] {
            let error = await refusal {
                _ = try await identity.world.login("ada", organization: "acme", password: password)
            }
            #expect(error?.detail == .authInvalidCredential)
        }
    }

    @Test func tokenOpensOnceAndIsForgivenALostResponse() async throws {
        let identity = try await TestIdentity()
        let token = identity.corpToken()
        try await identity.signIn(token)
        identity.world.clock.advance(seconds: 29)
        try await identity.signIn(token)
        identity.world.clock.advance(seconds: 1)
        let error = await refusal { try await identity.signIn(token) }
        #expect(error?.detail == .authInvalidCredential)
        #expect(error?.message == "the identity token is not valid: it was already used")
        #expect(try await identity.sweep() == 0)
        identity.world.clock.advance(seconds: 26 * 3600)
        #expect(try await identity.sweep() == 1)
    }

    @Test func usedTokenStaysUsedWhenTheClockSteps() async throws {
        let identity = try await TestIdentity()
        let (clock, token) = (identity.world.clock, identity.corpToken())
        clock.advance(seconds: 300)
        try await identity.signIn(token)
        clock.step(seconds: -200)
        #expect(await refusal { try await identity.signIn(token) }?.detail == .authInvalidCredential)
        // Ahead by as much as is trusted for deletions, and back again.
        clock.step(seconds: 86_400)
        #expect(try await identity.sweep() == 0)
        clock.step(seconds: -86_100)
        #expect(await refusal { try await identity.signIn(token) }?.detail == .authInvalidCredential)
    }

    @Test func sameTokenAtTheSameTimeMakesOneAccount() async throws {
        let identity = try await TestIdentity()
        let token = identity.corpToken()
        await withDiscardingTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    let error = await refusal { try await identity.signIn(token) }
                    #expect(error == nil)
                }
            }
        }
        #expect(try await identity.users() == ["boss", "ada"])
    }

    @Test func refusedTokensMakeNoAccount() async throws {
        let identity = try await TestIdentity()
        let stranger = TestIssuer()
        let tokens = [
            "", stranger.sign(TestIssuer.claims(["groups": #"["ops"]"#])), identity.corpToken(["aud": #""app""#]),
            identity.corpToken(["exp": "1799999000"]), identity.appleToken(),
            identity.issuer.sign(header: #"{"alg":"none"}"#),
        ]
        for token in tokens {
            let error = await refusal { try await identity.signIn(token) }
            #expect(error?.detail == .authInvalidCredential, "\(token)")
        }
        #expect(try await identity.users() == ["boss"])
        let unknown = await refusal { try await identity.signIn("nobody", identity.corpToken()) }
        #expect(unknown?.status == .notFound)
        let workloads = await refusal { try await identity.signIn("ci", identity.workloadToken()) }
        #expect(workloads?.status == .notFound)
    }

    @Test func outageOfTheProviderIsNotARefusal() async throws {
        let identity = try await TestIdentity()
        identity.transport.set("\(TestIssuer.url)/keys", nil)
        let error = await refusal { try await identity.signIn(identity.corpToken()) }
        #expect(error?.status == .unavailable)
        #expect(error?.retryAfterMilliseconds != nil)
    }

    @Test func roleFollowsTheClaimAtEachSignIn() async throws {
        let identity = try await TestIdentity()
        let admin = try await identity.signIn(identity.corpToken(["groups": #"["x","ops","admins"]"#]))
        #expect(admin.user?.role == "admin")
        let lower = try await identity.signIn(identity.corpToken(["groups": #""ops""#]))
        #expect(lower.user?.role == "operator")
        #expect(await refusal { _ = try await identity.world.refresh(admin.refreshToken) } != nil)
        #expect(
            await refusal {
                _ = try identity.world.call(UserAuthServiceMethods.listUsers, token: admin.accessToken)
            }?.detail == .unauthenticated)
        let none = await refusal { try await identity.signIn(identity.corpToken(["groups": "[]"])) }
        #expect(none?.status == .permissionDenied)
        #expect(await refusal { _ = try await identity.world.refresh(lower.refreshToken) } != nil)
    }

    @Test func personWithoutARoleGetsNoAccount() async throws {
        let identity = try await TestIdentity()
        for groups in ["", "[]", #"["others"]"#, "7", #"{"ops":true}"#] {
            let error = await refusal { try await identity.signIn(identity.corpToken(["groups": groups])) }
            #expect(error?.status == .permissionDenied, "\(groups)")
        }
        #expect(try await identity.users() == ["boss"])
    }

    @Test func lastLocalAdminStaysOne() async throws {
        let identity = try await TestIdentity()
        let boss = try await identity.world.login("boss", organization: "acme", password: "long enough")
        try await identity.signIn(identity.corpToken(["groups": #"["admins"]"#]))
        // An admin without a password does not replace the last one with a password.
        let error = await refusal {
            _ = try await identity.world.accounts.userAuthService.deleteUser(
                DeleteUserRequest(userName: "boss"),
                context: try identity.world.call(UserAuthServiceMethods.deleteUser, token: boss.accessToken))
        }
        #expect(error?.status == .failedPrecondition)
        _ = try await identity.world.accounts.userAuthService.deleteUser(
            DeleteUserRequest(userName: "ada"),
            context: try identity.world.call(UserAuthServiceMethods.deleteUser, token: boss.accessToken))
        #expect(try await identity.users() == ["boss"])
    }

    @Test func deletedUsersTokenDoesNotMakeTheAccountAgain() async throws {
        let identity = try await TestIdentity()
        let token = identity.corpToken()
        try await identity.signIn(token)
        let boss = try await identity.world.login("boss", organization: "acme", password: "long enough")
        _ = try await identity.world.accounts.userAuthService.deleteUser(
            DeleteUserRequest(userName: "ada"),
            context: try identity.world.call(UserAuthServiceMethods.deleteUser, token: boss.accessToken))
        #expect(await refusal { try await identity.signIn(token) }?.detail == .authInvalidCredential)
        #expect(try await identity.users() == ["boss"])
    }

    @Test func sessionEndsAlthoughItIsRefreshed() async throws {
        let identity = try await TestIdentity()
        var token = try await identity.signIn(identity.corpToken()).refreshToken
        for _ in 0..<11 {
            identity.world.clock.advance(seconds: 3600)
            token = try await identity.world.refresh(token).refreshToken
        }
        identity.world.clock.advance(seconds: 3600)
        #expect(await refusal { _ = try await identity.world.refresh(token) }?.detail == .authInvalidCredential)
    }

    @Test func accessTokenEndsWithTheSession() async throws {
        let identity = try await TestIdentity()
        let end = identity.world.clock.now().seconds + 12 * 3600
        let session = try await identity.signIn(identity.corpToken())
        #expect(session.accessTokenExpiresAtUnix == end - 12 * 3600 + 15 * 60)
        identity.world.clock.advance(seconds: 12 * 3600 - 60)
        #expect(try await identity.world.refresh(session.refreshToken).accessTokenExpiresAtUnix == end)
    }

    @Test func passwordForAnAccountOfAProviderIsHashedLikeForAMissingOne() async throws {
        let identity = try await TestIdentity()
        try await identity.signIn(identity.corpToken())
        for name in ["missing", "ada"] {
            let before = Self.processorTime
            let error = await refusal {
                _ = try await identity.world.login(name, organization: "acme", password: "long enough")
            }
            #expect(error?.detail == .authInvalidCredential)
            // Hashing takes about 20 ms of processor time, everything else less than 2 ms.
            #expect(Self.processorTime - before > .milliseconds(5), "\(name)")
        }
    }

    /// The processor time of the process.
    private static var processorTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    @Test func providerThatMakesNoAccountsSignsInKnownPeopleOnly() async throws {
        let identity = try await TestIdentity { $0[2].people?.createsAccounts = false }
        let error = await refusal { try await identity.signIn(identity.corpToken()) }
        #expect(error?.status == .permissionDenied)
        #expect(try await identity.users() == ["boss"])
    }

    // MARK: Linking

    private static let address = ["email": #""Ada@Example.com""#, "email_verified": "true"]

    @Test func sameAddressAtTwoTrustedProvidersIsOneAccount() async throws {
        let identity = try await TestIdentity()
        let first = try await identity.signIn(identity.corpToken(Self.address))
        let second = try await identity.signIn(
            "apple", identity.appleToken(["email": #""ada@example.com""#, "email_verified": #""true""#]))
        #expect(second.user?.userID == first.user?.userID)
        #expect(second.user?.userName == "Ada@Example.com")
        // The role is the one of the provider with a claim.
        #expect(second.user?.role == "operator")
    }

    @Test func unverifiedAddressesDoNotLink() async throws {
        for (corp, apple) in [
            (Self.address, ["email": #""ada@example.com""#]),
            (["email": #""ada@example.com""#], Self.address),
            (Self.address, ["email": #""ada@example.com""#, "email_verified": #""yes""#]),
        ] {
            let identity = try await TestIdentity()
            let first = try await identity.signIn(identity.corpToken(corp))
            let second = try await identity.signIn("apple", identity.appleToken(apple))
            #expect(second.user?.userID != first.user?.userID)
        }
    }

    @Test func providersThatAreNotTrustedWithAddressesDoNotLink() async throws {
        for distrusted in [0, 2] {
            let identity = try await TestIdentity { $0[distrusted].people?.linksByEmail = false }
            let first = try await identity.signIn(identity.corpToken(Self.address))
            let second = try await identity.signIn("apple", identity.appleToken(Self.address))
            #expect(second.user?.userID != first.user?.userID)
        }
    }

    @Test func localAccountWithTheAddressAsItsNameIsNotTakenOver() async throws {
        let identity = try await TestIdentity()
        let boss = try await identity.world.login("boss", organization: "acme", password: "long enough")
        let local = try await identity.world.createUser("ada@example.com", role: "admin", token: boss.accessToken)
        let session = try await identity.signIn(
            identity.corpToken(["email": #""ada@example.com""#, "email_verified": "true"]))
        #expect(session.user?.userID != local.userID)
        #expect(session.user?.userName.hasPrefix("ada@example.com-") == true)
    }

    @Test func changeOfTheAddressChangesNothing() async throws {
        let identity = try await TestIdentity()
        let first = try await identity.signIn(identity.corpToken(Self.address))
        let second = try await identity.signIn(
            identity.corpToken(["email": #""eve@example.com""#, "email_verified": "true"]))
        #expect(second.user?.userID == first.user?.userID)
        let third = try await identity.signIn(
            "apple", identity.appleToken(["email": #""eve@example.com""#, "email_verified": "true"]))
        #expect(third.user?.userID != first.user?.userID)
    }

    // MARK: Nonces

    @Test func nonceIsComparedAsItIsOrAsItsDigest() async throws {
        let identity = try await TestIdentity()
        let digest = Hex.lower(Digest.sha256(Array("n".utf8)))
        try await identity.signIn(identity.corpToken(["nonce": #""n""#]), nonce: "n")
        try await identity.signIn(identity.corpToken(["nonce": "\"\(digest)\""]), nonce: "n")
        for (claimed, given) in [(#""n""#, ""), (#""n""#, "m"), ("", "n"), ("\"\(digest)\"", digest + "0")] {
            let error = await refusal {
                try await identity.signIn(identity.corpToken(["nonce": claimed, "jti": "2"]), nonce: given)
            }
            #expect(error?.detail == .authInvalidCredential, "\(claimed) \(given)")
        }
    }

    @Test func requiredNonceIsTheGatewaysAndUsedOnce() async throws {
        let identity = try await TestIdentity { $0[2].people?.requiresNonce = true }
        let nonce = try await identity.begin(redirect: "").nonce
        let token = identity.corpToken(["nonce": "\"\(nonce)\""])
        let own = identity.corpToken(["nonce": #""mine""#])
        #expect(await refusal { try await identity.signIn(own, nonce: "mine") }?.detail == .authInvalidCredential)
        #expect(await refusal { try await identity.signIn(identity.corpToken()) }?.detail == .authInvalidCredential)
        try await identity.signIn(token, nonce: nonce)
        identity.world.clock.advance(seconds: 31)
        let again = identity.corpToken(["nonce": "\"\(nonce)\"", "jti": "2"])
        #expect(await refusal { try await identity.signIn(again, nonce: nonce) }?.detail == .authInvalidCredential)
        let late = try await identity.begin(redirect: "").nonce
        identity.world.clock.advance(seconds: 600)
        let lateToken = identity.corpToken(["nonce": "\"\(late)\"", "exp": "1800009000"])
        #expect(await refusal { try await identity.signIn(lateToken, nonce: late) }?.detail == .authInvalidCredential)
    }

    // MARK: Limits and records

    @Test func failuresOfAnAddressAreLimited() async throws {
        let identity = try await TestIdentity()
        for _ in 0..<60 { _ = await refusal { try await identity.signIn("x.y.z", host: "198.51.100.1") } }
        let error = await refusal { try await identity.signIn(identity.corpToken(), host: "198.51.100.1") }
        #expect(error?.status == .unavailable)
        try await identity.signIn(identity.corpToken(), host: "198.51.100.2")
    }

    @Test func signInsAreAudited() async throws {
        let identity = try await TestIdentity()
        let before = try identity.world.rows.lastAuditID()
        try await identity.signIn(identity.corpToken())
        try await identity.signIn(identity.corpToken(["groups": #""admins""#]))
        let lines = try identity.world.rows.audit(after: before).map { "\($0.actor) \($0.action) \($0.result)" }
        #expect(
            lines == [
                "provider:corp CreateUser OK", "user:acme/ada SignInWithIdentityToken OK",
                "provider:corp UpdateUser OK", "user:acme/ada SignInWithIdentityToken OK",
            ])
    }
}
