import Basics
import Capability
import Database
import GRPCWire
import GatewayTesting
import Proto
import RPC
import TestSupport
import Testing

@testable import Accounts

extension TestAccounts {
    fileprivate func invite(
        _ name: String, role: String = "viewer", token: String, organization: String? = nil
    ) async throws -> CreateInvitationResponse {
        try await accounts.invitationManagementService.createInvitation(
            CreateInvitationRequest(userName: name, role: role),
            context: call(
                InvitationManagementServiceMethods.createInvitation, token: token, organization: organization))
    }

    fileprivate func invitations(
        token: String, pageSize: Int32 = 0, pageToken: String = ""
    ) async throws -> ListInvitationsResponse {
        try await accounts.invitationManagementService.listInvitations(
            ListInvitationsRequest(pageSize: pageSize, pageToken: pageToken),
            context: call(InvitationManagementServiceMethods.listInvitations, token: token))
    }

    fileprivate func withdraw(_ id: String, token: String) async throws {
        _ = try await accounts.invitationManagementService.withdrawInvitation(
            WithdrawInvitationRequest(invitationID: id),
            context: call(InvitationManagementServiceMethods.withdrawInvitation, token: token))
    }

    fileprivate func invitation(_ text: String, host: String = "192.0.2.8") async throws -> GetInvitationResponse {
        try await accounts.invitationService.getInvitation(
            GetInvitationRequest(token: text), context: call(InvitationServiceMethods.getInvitation, host: host))
    }

    @discardableResult
    fileprivate func accept(_ text: String, password: String = "her own choice") async throws -> User? {
        try await accounts.invitationService.acceptInvitation(
            AcceptInvitationRequest(token: text, password: password),
            context: call(InvitationServiceMethods.acceptInvitation, host: "192.0.2.8")
        ).user
    }

    /// Calls UpdateUser.
    fileprivate func setRole(_ role: String, of name: String, token: String) async throws {
        _ = try await accounts.userAuthService.updateUser(
            UpdateUserRequest(userName: name, role: role),
            context: call(UserAuthServiceMethods.updateUser, token: token))
    }

    fileprivate func deleteUser(_ name: String, token: String) async throws {
        _ = try await accounts.userAuthService.deleteUser(
            DeleteUserRequest(userName: name), context: call(UserAuthServiceMethods.deleteUser, token: token))
    }

    fileprivate func users(token: String) async throws -> [User] {
        try await accounts.userAuthService.listUsers(
            ListUsersRequest(), context: call(UserAuthServiceMethods.listUsers, token: token)
        ).users
    }

    fileprivate func invitationRows() throws -> Int {
        try database.readBlocking { connection in
            try connection.first("SELECT count(*) AS invitations FROM invitations") { $0.int("invitations") } ?? 0
        }
    }
}

@Suite(.timeLimited) struct InvitationTests {
    private static let ended =
        "the invitation is not valid: it was used or withdrawn, or has expired; ask for another one"

    private func isEnded(_ text: String, in world: TestAccounts) async -> Bool {
        let shown = await refusal { _ = try await world.invitation(text) }
        let accepted = await refusal { try await world.accept(text) }
        return [shown, accepted].allSatisfy { $0?.status == .notFound && $0?.message == Self.ended }
    }

    @Test func tokenHasAPrefixAnd256RandomBits() throws {
        let token = InvitationToken()
        #expect(token.text.wholeMatch(of: /dgwi_[0-9A-Za-z_-]{43}/) != nil)
        let parsed = try #require(InvitationToken(text: token.text))
        #expect(parsed.digest(pepper: [1]) == token.digest(pepper: [1]))
        #expect(parsed.digest(pepper: [2]) != token.digest(pepper: [1]))
        #expect(InvitationToken().text != token.text)
        for text in ["", "dgwi_", token.text + "AA", String(token.text.dropLast(2)), " \(token.text)"] {
            #expect(InvitationToken(text: text) == nil, "\(text)")
        }
    }

    @Test func acceptedInvitationCreatesTheUserOnce() async throws {
        let world = try await TestAccounts()
        let boss = try await world.createOrganization("acme", token: try await world.login().accessToken)
        let created = try await world.invite("nora", role: "operator", token: boss)
        #expect(created.link.isEmpty)
        #expect(try world.audit().last == "user:acme/boss acme CreateInvitation invitations/nora OK 1")

        let shown = try await world.invitation(created.token)
        #expect(shown.invitation == created.invitation && !shown.secondFactorRequired)
        #expect(shown.invitation?.organization == "acme" && shown.invitation?.invitedBy == "boss")
        #expect(shown.invitation?.expiredAt?.time == world.clock.now().adding(.hours(72)))
        #expect(try await world.invitations(token: boss).invitations == [created.invitation])

        let user = try await world.accept(created.token)
        #expect(user?.userName == "nora" && user?.role == "operator" && user?.organization == "acme")
        let id = try #require(user?.userID)
        #expect(try world.audit().last == "user:acme/nora acme AcceptInvitation users/\(id) OK 1")
        #expect(await isEnded(created.token, in: world))
        #expect(try await world.invitations(token: boss).invitations.isEmpty)
        #expect(try await world.login("nora", organization: "acme", password: "her own choice").user?.userID == id)
    }

    @Test func twoAcceptancesAtOnceCreateOneUser() async throws {
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        let token = try await world.invite("nora", token: admin).token
        let refusals = await withTaskGroup(of: RPCError?.self) { group in
            for number in 0..<4 {
                group.addTask { await refusal { try await world.accept(token, password: "password \(number)") } }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(refusals.count { $0 == nil } == 1)
        #expect(refusals.compactMap { $0 }.allSatisfy { $0.message == Self.ended })
        #expect(try await world.users(token: admin).map(\.userName) == ["admin", "nora"])
    }

    @Test func databaseHasNoToken() async throws {
        let world = try await TestAccounts()
        let token = try await world.invite("nora", token: try await world.login().accessToken).token
        let digest = try world.database.readBlocking { connection in
            try connection.first("SELECT digest FROM invitations") { $0.blob("digest") }
        }
        let secret = try #require(Base64.decodeURL(token.dropFirst("dgwi_".count)))
        #expect(digest?.count == 32 && digest != secret)
    }

    @Test func withdrawnOrExpiredInvitationIsRefused() async throws {
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        let withdrawn = try await world.invite("nora", token: admin)
        let id = try #require(withdrawn.invitation?.invitationID)
        try await world.withdraw(id, token: admin)
        #expect(try world.audit().last == "user:system/admin system WithdrawInvitation invitations/nora OK 1")
        #expect(await isEnded(withdrawn.token, in: world))
        #expect(await refusal { try await world.withdraw(id, token: admin) }?.status == .notFound)

        let late = try await world.invite("nora", token: admin).token
        world.clock.advance(seconds: 72 * 3600 - 1)
        _ = try await world.invitation(late)
        world.clock.advance(seconds: 1)
        #expect(await isEnded(late, in: world))
        #expect(try world.invitationRows() == 1)
        let fresh = try await world.login().accessToken
        _ = try await world.invite("nora", token: fresh)
        _ = try await world.accounts.sweepSessions(try #require(world.clockGuard.permit()))
        #expect(try world.invitationRows() == 1)
        #expect(try await world.invitations(token: fresh).invitations.map(\.userName) == ["nora"])
    }

    @Test func invitationEndsWithTheRightsOfItsInviter() async throws {
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        for name in ["eve", "mallory", "olga"] { _ = try await world.createUser(name, role: "admin", token: admin) }
        func invite(by name: String) async throws -> String {
            let token = try await world.login(name, password: "long enough").accessToken
            return try await world.invite("friend-of-\(name)", token: token).token
        }
        let (first, second, third) = (
            try await invite(by: "eve"), try await invite(by: "mallory"), try await invite(by: "olga")
        )
        try await world.deleteUser("eve", token: admin)
        #expect(await isEnded(first, in: world))
        try await world.setRole("operator", of: "mallory", token: admin)
        try await world.setRole("admin", of: "mallory", token: admin)
        #expect(await isEnded(second, in: world))
        // The role is compared when the invitation is accepted, whatever has changed it.
        let now = world.clock.now()
        try await world.database.write { connection in
            let olga = try UserRecords(connection).find(organization: "system", name: "olga")
            try UserRecords(connection).update(id: olga?.id ?? 0, role: .operator, passwordHash: nil, at: now)
        }
        #expect(await isEnded(third, in: world))
        #expect(try await world.users(token: admin).map(\.userName) == ["admin", "mallory", "olga"])
    }

    @Test func deletedOrganizationHasNoInvitations() async throws {
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        let boss = try await world.createOrganization("acme", token: admin)
        let own = try await world.invite("nora", token: boss).token
        let foreign = try await world.invite("vera", token: admin, organization: "acme")
        #expect(foreign.invitation?.organization == "acme" && foreign.invitation?.invitedByOrganization == "system")
        _ = try await world.adminService.deleteOrganization(
            DeleteOrganizationRequest(organization: "acme"),
            context: world.call(AdminAuthServiceMethods.deleteOrganization, token: admin))
        for token in [own, foreign.token] { #expect(await isEnded(token, in: world)) }
        #expect(try world.invitationRows() == 0)
    }

    @Test func takenNamesAreRefused() async throws {
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        let existing = await refusal { _ = try await world.invite("admin", token: admin) }
        #expect(existing?.status == .alreadyExists && existing?.message == "a user named \"admin\" already exists")
        let token = try await world.invite("nora", token: admin).token
        let invited = await refusal { _ = try await world.invite("nora", token: admin) }
        #expect(invited?.message == "\"nora\" is already invited: withdraw that invitation first")

        _ = try await world.createUser("nora", role: "viewer", token: admin)
        let late = await refusal { try await world.accept(token) }
        #expect(late?.status == .alreadyExists)
        try await world.deleteUser("nora", token: admin)
        #expect(try await world.accept(token)?.userName == "nora")
    }

    @Test func organizationHasAtMost100OpenInvitations() async throws {
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        let boss = try await world.createOrganization("acme", token: admin)
        var last = ""
        for number in 0..<100 {
            last = try await world.invite("user-\(number)", token: boss).invitation?.invitationID ?? ""
        }
        let refused = await refusal { _ = try await world.invite("one-more", token: boss) }
        #expect(refused?.status == .failedPrecondition)
        #expect(
            refused?.message
                == "the organization has 100 open invitations, the maximum: withdraw one of them first")
        _ = try await world.invite("one-more", token: admin)
        try await world.withdraw(last, token: boss)
        _ = try await world.invite("one-more", token: boss)

        let first = try await world.invitations(token: boss, pageSize: 60)
        let rest = try await world.invitations(token: boss, pageSize: 60, pageToken: first.nextPageToken)
        let names = (first.invitations + rest.invitations).map(\.userName)
        #expect(names == (0..<99).map { "user-\($0)" } + ["one-more"] && rest.nextPageToken.isEmpty)
        let foreign = await refusal {
            _ = try await world.invitations(token: admin, pageToken: first.nextPageToken)
        }
        #expect(foreign?.status == .invalidArgument)
    }

    @Test func organizationSeesOnlyItsOwnInvitations() async throws {
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        let (acme, globex) = (
            try await world.createOrganization("acme", token: admin),
            try await world.createOrganization("globex", token: admin)
        )
        let created = try await world.invite("nora", token: acme)
        let id = try #require(created.invitation?.invitationID)
        #expect(try await world.invitations(token: globex).invitations.isEmpty)
        #expect(await refusal { try await world.withdraw(id, token: globex) }?.status == .notFound)
        #expect(try await world.accept(created.token)?.organization == "acme")
    }

    @Test func wrongTokensAreLimitedForTheirAddress() async throws {
        let world = try await TestAccounts { $0.failedLoginsOfAccountFromAddress = 3 }
        let token = try await world.invite("nora", token: try await world.login().accessToken).token
        for _ in 0..<5 { _ = try await world.invitation(token) }
        for text in ["", "no token", InvitationToken().text] {
            #expect(await refusal { _ = try await world.invitation(text) }?.message == Self.ended)
        }
        let limited = await refusal { _ = try await world.invitation(token) }
        #expect(limited?.status == .unavailable && limited?.detail == nil)
        #expect(limited?.retryAfterMilliseconds ?? 0 > 0)
        #expect(await refusal { try await world.accept(token) }?.status == .unavailable)
        _ = try await world.invitation(token, host: "198.51.100.1")
        world.clock.advance(seconds: 60)
        try await world.accept(token)
        world.accounts.deferred.flush(at: world.clock.now())
        // The writer writes in the order of requests.
        try await world.database.write { _ in }
        #expect(try world.audit().contains("nobody  GetInvitation  NOT_FOUND 3"))
    }

    @Test func requestsFollowTheRulesOfUsers() async throws {
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        for (name, role) in [
            ("no name!", "viewer"), ("", "viewer"), ("nora", "service"), ("nora", "czar"), ("nora", ""),
        ] {
            let refused = await refusal { _ = try await world.invite(name, role: role, token: admin) }
            #expect(refused?.status == .invalidArgument, "\(name) \(role)")
        }
        let token = try await world.invite("nora", token: admin).token
        #expect(await refusal { try await world.accept(token, password: "short") }?.status == .invalidArgument)
        try await world.accept(token)

        let program = try await world.createToken("ci", role: "admin", token: admin).token
        let refused = await refusal { _ = try await world.invite("eve", role: "admin", token: program) }
        #expect(refused?.status == .permissionDenied)
        _ = try await world.invite("eve", role: "operator", token: program)
    }

    @Test func linkHasTheTokenInItsFragment() async throws {
        let world = try await TestAccounts { $0.consoleURL = "https://gateway.example.com" }
        let created = try await world.invite("nora", token: try await world.login().accessToken)
        #expect(created.link == "https://gateway.example.com/console/#/invitation/\(created.token)")
    }

    @Test func listedUsersHaveTheStatesOfTheirSecondFactors() async throws {
        let account = try await ProtectedAccount()
        let (world, admin) = (account.world, account.token)
        _ = try await world.createUser("nora", role: "viewer", token: admin)
        _ = try await world.createUser("robot", role: "service", token: admin)
        func states() async throws -> [SecondFactorState] {
            let listed = try await world.users(token: admin)
            for user in listed {
                let shown = try await world.accounts.userAuthService.getUser(
                    GetUserRequest(userName: user.userName),
                    context: world.call(UserAuthServiceMethods.getUser, token: admin))
                #expect(shown.user == user)
            }
            return listed.map(\.secondFactor)
        }
        #expect(try await states() == [.on, .off, .off])
        let token = try await world.invite("vera", token: admin).token
        try await world.requireSecondFactor(of: "system", true)
        #expect(try await states() == [.on, .missing, .off])
        #expect(try await world.invitation(token).secondFactorRequired)
    }
}
