import Accounts
import Basics
import Crypto
import Database
import GatewayAPI
import GatewayTesting
import Proto
import TestSupport
import Testing

@testable import Console

@Suite(.timeLimited) struct ConsoleSessionsTests {
    private let world: TestAccounts
    private let configuration = {
        var configuration = ConsoleConfiguration()
        configuration.sessionIdle = .seconds(100)
        configuration.sessionTotal = .seconds(250)
        configuration.maximumSessions = 3
        configuration.maximumSessionsPerUser = 2
        return configuration
    }()

    init() async throws {
        world = try await TestAccounts(migrations: ConsoleSessions.migrations)
    }

    private func sessions() -> ConsoleSessions {
        ConsoleSessions(world.environment, configuration: configuration)
    }

    private func open(
        _ sessions: ConsoleSessions, _ name: String = "admin", password: String = TestAccounts.adminPassword
    ) async throws -> ConsoleSessions.Opened? {
        let response = try await world.login(name, password: password)
        let now = world.clock.now()
        return try sessions.open(for: try #require(response.user), UserTokens(response, at: now), at: now)
    }

    private func find(_ cookie: String?, in sessions: ConsoleSessions, isActivity: Bool = true) throws -> Session? {
        try sessions.session(cookie: cookie, at: world.clock.now(), isActivity: isActivity)
    }

    /// Waits until earlier writes are done.
    private func flushWrites() async throws { try await world.database.write { _ in } }

    private func count(_ table: String) throws -> Int {
        try world.database.readBlocking { try $0.first("SELECT count(*) FROM \(table)") { $0.int(0) } ?? 0 }
    }

    @Test func aSessionIsFoundByItsCookieAndAdmittedByItsToken() async throws {
        let sessions = sessions()
        let opened = try #require(try await open(sessions))
        let session = try #require(try find(opened.cookie, in: sessions))
        #expect(session.admits(token: opened.token))
        #expect(!session.admits(token: opened.cookie))
        #expect(!session.admits(token: nil))
        #expect(try find(opened.token, in: sessions) == nil)
        #expect(try find(nil, in: sessions) == nil)
        try sessions.end(session)
        #expect(try find(opened.cookie, in: sessions) == nil)
        #expect(try count("sessions") == 0)
    }

    @Test func sessionsOutliveTheProcessWithTheirTokens() async throws {
        let opened = try #require(try await open(sessions()))
        let later = sessions()
        let session = try #require(try find(opened.cookie, in: later))
        #expect(session.admits(token: opened.token))
        #expect(session.user.userName == "admin" && session.user.organization == "system")
        let renewed = try await world.refresh(session.refreshToken.exposedText)
        try later.keep(UserTokens(renewed, at: world.clock.now()), of: session)
        let last = try #require(try find(opened.cookie, in: sessions()))
        #expect(last.refreshToken.exposedText == renewed.refreshToken)
    }

    @Test func rowsHoldNothingThatABrowserOrAClientSends() async throws {
        let opened = try #require(try await open(sessions()))
        let row = try world.database.readBlocking {
            try ConsoleSessionRecords($0).find(digest: opened.session.key.digest)
        }
        let record = try #require(row)
        let texts = [record.sealed, record.digest, record.tokenDigest].map { String(decoding: $0, as: UTF8.self) }
        for secret in [opened.cookie, opened.token, opened.session.refreshToken.exposedText, "admin"] {
            #expect(!texts.contains { $0.contains(secret) })
        }
        // A row with the tokens of another session is of no use.
        let other = try #require(try await open(sessions()))
        try await world.database.write { connection in
            try ConsoleSessionRecords(connection).replaceTokens(
                digest: other.session.key.digest, sealed: record.sealed)
        }
        #expect(try find(other.cookie, in: sessions()) == nil)
    }

    @Test func itEndsWithTheSessionOfItsUser() async throws {
        let sessions = sessions()
        let opened = try #require(try await open(sessions))
        let other = try await world.login()
        let id = try #require(
            try await world.sessions(token: other.accessToken).first { !$0.isCurrent }?.sessionID)
        _ = try await world.accounts.sessionService.revokeSession(
            RevokeSessionRequest(sessionID: id),
            context: world.call(SessionServiceMethods.revokeSession, token: other.accessToken))
        #expect(try find(opened.cookie, in: sessions) == nil)
        #expect(try count("console_sessions") == 0)
    }

    @Test func itEndsWhenNobodyUsesIt() async throws {
        let sessions = sessions()
        let cookie = try #require(try await open(sessions)).cookie
        world.clock.advance(seconds: 90)
        #expect(try find(cookie, in: sessions) != nil)
        try await flushWrites()
        // Automatic refreshes of a page do not count as activity.
        world.clock.advance(seconds: 90)
        #expect(try find(cookie, in: sessions, isActivity: false) != nil)
        try await flushWrites()
        world.clock.advance(seconds: 10)
        #expect(try find(cookie, in: sessions) == nil)
    }

    @Test func itsUseProlongsTheTimeWithoutActivityOnly() async throws {
        let sessions = sessions()
        let cookie = try #require(try await open(sessions)).cookie
        func remaining(isActivity: Bool) throws -> SessionRemainder {
            let session = try #require(try find(cookie, in: sessions, isActivity: isActivity))
            return session.remaining(configuration, at: world.clock.now())
        }
        #expect(try remaining(isActivity: true) == SessionRemainder(total: .seconds(250), idle: .seconds(100)))
        world.clock.advance(seconds: 60)
        #expect(try remaining(isActivity: false) == SessionRemainder(total: .seconds(190), idle: .seconds(40)))
        #expect(try remaining(isActivity: true) == SessionRemainder(total: .seconds(190), idle: .seconds(100)))
        try await flushWrites()
        world.clock.advance(seconds: 60)
        #expect(try remaining(isActivity: false) == SessionRemainder(total: .seconds(130), idle: .seconds(40)))
    }

    @Test func itEndsWhateverItsUse() async throws {
        let sessions = sessions()
        let cookie = try #require(try await open(sessions)).cookie
        for _ in stride(from: 0, to: 250, by: 50) {
            #expect(try find(cookie, in: sessions) != nil)
            try await flushWrites()
            world.clock.advance(seconds: 50)
        }
        #expect(try find(cookie, in: sessions) == nil)
    }

    @Test func oneMoreOfAUserEndsTheirOldest() async throws {
        let sessions = sessions()
        var cookies: [String] = []
        for _ in 0..<3 {
            cookies.append(try #require(try await open(sessions)).cookie)
            world.clock.advance(seconds: 1)
        }
        #expect(try cookies.map { try find($0, in: sessions) != nil } == [false, true, true])
        #expect(try count("sessions") == 2)
    }

    /// Opens a session of the admin of an organization that ``TestAccounts/createOrganization(_:token:)`` made.
    private func open(_ sessions: ConsoleSessions, of organization: String) async throws -> ConsoleSessions.Opened? {
        let response = try await world.login("boss", organization: organization, password: "long enough")
        let now = world.clock.now()
        return try sessions.open(for: try #require(response.user), UserTokens(response, at: now), at: now)
    }

    @Test func organizationThatUsesAllSessionsLosesItsLeastRecentlyUsedOne() async throws {
        let sessions = sessions()
        let admin = try await world.login().accessToken
        for name in ["a", "b", "c", "d"] { _ = try await world.createUser(name, role: "viewer", token: admin) }
        var cookies: [String] = []
        for name in ["a", "b", "c"] {
            cookies.append(try #require(try await open(sessions, name, password: "long enough")).cookie)
            world.clock.advance(seconds: 1)
        }
        // The first one is used, so that the second one is the least recently used.
        world.clock.advance(seconds: 60)
        #expect(try find(cookies[0], in: sessions) != nil)
        try await flushWrites()
        cookies.append(try #require(try await open(sessions, "d", password: "long enough")).cookie)
        #expect(try cookies.map { try find($0, in: sessions) != nil } == [true, false, true, true])
        #expect(world.environment.limits.all == ["console_sessions": 1])
    }

    @Test func organizationWithAllSessionsKeepsNobodyElseOut() async throws {
        let sessions = sessions()
        let admin = try await world.login().accessToken
        _ = try await world.createOrganization("greedy", token: admin)
        let greedy = try await world.login("boss", organization: "greedy", password: "long enough").accessToken
        for name in ["a", "b", "c"] {
            _ = try await world.createUser(name, role: "viewer", token: greedy)
            let response = try await world.login(name, organization: "greedy", password: "long enough")
            let now = world.clock.now()
            #expect(
                try sessions.open(for: try #require(response.user), UserTokens(response, at: now), at: now) != nil)
        }
        let cookie = try #require(try await open(sessions)).cookie
        #expect(try count("console_sessions") == 3)
        // The greedy organization has two of three now, and takes its own.
        #expect(try await open(sessions, of: "greedy") != nil)
        #expect(try find(cookie, in: sessions) != nil)
        #expect(try count("console_sessions") == 3)
    }

    @Test func organizationsWithOneSessionEachKeepThemButSystemCanAlwaysSignIn() async throws {
        let sessions = sessions()
        let admin = try await world.login().accessToken
        for name in ["one", "two", "three", "four"] { _ = try await world.createOrganization(name, token: admin) }
        for name in ["one", "two", "three"] { #expect(try await open(sessions, of: name) != nil) }
        #expect(try await open(sessions, of: "four") == nil)
        #expect(try await open(sessions) != nil)
        #expect(try count("console_sessions") == 3)
    }

    @Test func organizationsWithEqualNumbersDoNotTakeEachOthersPlaces() {
        #expect(SessionPlaces(held: [1: 3]).loser(for: 2, isSystem: false) == 1)
        #expect(SessionPlaces(held: [1: 2, 2: 1]).loser(for: 2, isSystem: false) == 2)
        #expect(SessionPlaces(held: [1: 3, 2: 1]).loser(for: 2, isSystem: false) == 1)
        #expect(SessionPlaces(held: [1: 3, 2: 1]).loser(for: 1, isSystem: false) == 1)
        #expect(SessionPlaces(held: [1: 2, 2: 2]).loser(for: 3, isSystem: false) == 1)
        #expect(SessionPlaces(held: [1: 1, 2: 1]).loser(for: 3, isSystem: false) == nil)
        #expect(SessionPlaces(held: [1: 1, 2: 1]).loser(for: 3, isSystem: true) == 1)
    }

    @Test func aClockThatIsAheadEndsNoRow() async throws {
        let sessions = sessions()
        let cookie = try #require(try await open(sessions)).cookie
        world.clock.step(seconds: 400 * 86_400)
        #expect(try find(cookie, in: sessions) == nil)
        #expect(world.clockGuard.permit() == nil)
        _ = try await open(sessions)
        world.clock.step(seconds: -400 * 86_400)
        #expect(try find(cookie, in: sessions) != nil)
    }

    @Test func unusedSessionsAreSwept() async throws {
        let sessions = sessions()
        _ = try #require(try await open(sessions))
        let permit = try #require(world.clockGuard.permit())
        #expect(try await sessions.sweep(permit) == 0)
        world.clock.advance(seconds: 100)
        #expect(try await sessions.sweep(try #require(world.clockGuard.permit())) == 1)
        #expect(try count("sessions") == 0)
    }

    private static func session(at now: UnixTime) -> Session {
        let response = LoginResponse(
            accessToken: "access", accessTokenExpiresAtUnix: now.seconds + 900, refreshToken: "refresh")
        return Session(
            key: SessionKey("cookie"), tokenDigest: [], user: User(), tokens: UserTokens(response, at: now),
            sealed: [], beganAt: now)
    }

    @Test func anAccessTokenIsRenewedInTime() throws {
        let start = UnixTime(seconds: 1_800_000_000)
        let session = Self.session(at: start)
        var requested: [String] = []
        func token(at seconds: Int64) -> String? {
            let outcome = session.accessToken(at: start.adding(seconds: seconds)) { refresh, now in
                requested.append(refresh.exposedText)
                let response = RefreshTokenResponse(
                    accessToken: "second", accessTokenExpiresAtUnix: now.seconds + 900, refreshToken: "next")
                return .answered(UserTokens(response, at: now))
            }
            if case .answered(let token) = outcome { return token.exposedText }
            return nil
        }
        #expect(token(at: 674) == "access")
        #expect(token(at: 675) == "second")
        #expect(token(at: 676) == "second")
        #expect(requested == ["refresh"])
        #expect(session.refreshToken.exposedText == "next")
    }

    @Test func addressOfADownloadIsValidOnceAndForAShortTime() async throws {
        let sessions = sessions()
        let session = try #require(try await open(sessions)).session
        let start = world.clock.now()
        let options = try #require(BackupOptions(json: Array(#"{"withoutObjects": true}"#.utf8)))
        let download = OfferedDownload(kind: .backup(options), organization: "acme")
        let first = try sessions.offer(download, in: session, at: start)
        let second = try sessions.offer(download, in: session, at: start)
        #expect(try sessions.redeem(first, in: session, at: start) == nil)
        let redeemed = try #require(try sessions.redeem(second, in: session, at: start))
        #expect(redeemed.organization == "acme")
        guard case .backup(let offered) = redeemed.kind else { throw CancellationError() }
        #expect(offered.withoutObjects)
        #expect(try sessions.redeem(second, in: session, at: start) == nil)
        let late = try sessions.offer(download, in: session, at: start)
        #expect(try sessions.redeem(late, in: session, at: start.adding(seconds: 60)) == nil)
        // It belongs to the session, and ends with it.
        let other = try #require(try await open(sessions)).session
        let own = try sessions.offer(download, in: session, at: start)
        #expect(try sessions.redeem(own, in: other, at: start) == nil)
        try sessions.end(session)
        #expect(try count("console_tickets") == 0)
        #expect(try sessions.redeem(own, in: session, at: start) == nil)
        _ = try sessions.offer(download, in: session, at: start)
        #expect(try count("console_tickets") == 0)
    }

    @Test func addressOfAnObjectIsValidUntilItsEnd() async throws {
        let sessions = sessions()
        let session = try #require(try await open(sessions)).session
        let start = world.clock.now()
        let content = SealedContent(fileID: "a", organization: "acme", until: start.adding(seconds: 60))
        let address = try sessions.address(of: content, in: session)
        #expect(sessions.content(address, in: session, at: start.adding(seconds: 59)) == content)
        #expect(sessions.content(address, in: session, at: start.adding(seconds: 60)) == nil)
        #expect(sessions.content(String(address.reversed()), in: session, at: start) == nil)
        let other = try #require(try await open(sessions)).session
        #expect(sessions.content(address, in: other, at: start) == nil)
        #expect(!address.contains("a\"") && address.utf8.count < 300)
    }

    @Test func permissionsToReadObjectsAreKeptUntilTheyHaveToBeRenewed() throws {
        let start = UnixTime(seconds: 1000)
        let session = Self.session(at: start)
        let access = try #require(StoreAddress(url: "http://store:50080/data/a%20b?Signature=x"))
        #expect((access.host, access.target) == ("store:50080", "/data/a%20b?Signature=x"))
        session.keep(ContentGrant(access: access, renewAt: start.adding(seconds: 30)), for: "a")
        #expect(session.grant(for: "a", at: start)?.access.target == access.target)
        #expect(session.grant(for: "a", at: start.adding(seconds: 30)) == nil)
        #expect(session.grant(for: "b", at: start) == nil)
        session.keep(ContentGrant(access: access, renewAt: start.adding(seconds: 60)), for: "a")
        #expect(session.grant(for: "a", at: start.adding(seconds: 30)) != nil)
        // The oldest one is dropped.
        for number in 0..<64 {
            session.keep(ContentGrant(access: access, renewAt: start.adding(seconds: 60)), for: "\(number)")
        }
        #expect(session.grant(for: "a", at: start) == nil)
    }

    /// Renews the tokens of a session as a gateway does for a request.
    private func renew(_ cookie: String, at sessions: ConsoleSessions) async throws -> Session? {
        guard let session = try find(cookie, in: sessions) else { return nil }
        let reply = try await world.refresh(session.refreshToken.exposedText)
        let tokens = UserTokens(reply, at: world.clock.now())
        _ = session.accessToken(at: world.clock.now().adding(seconds: 900)) { _, _ in .answered(tokens) }
        try sessions.keep(tokens, of: session)
        return session
    }

    @Test func sessionIsRenewedByAnyGatewayInTurn() async throws {
        let gateways = [sessions(), sessions(), sessions()]
        let cookie = try #require(try await open(gateways[0])).cookie
        for gateway in gateways { #expect(try find(cookie, in: gateway) != nil) }
        // Each renewal makes the refresh token of the others invalid, beyond the time for lost responses.
        for round in 0..<6 {
            world.clock.advance(seconds: 30)
            let session = try #require(try await renew(cookie, at: gateways[round % 3]))
            for gateway in gateways {
                let own = try #require(try find(cookie, in: gateway))
                #expect(own.refreshToken.exposedText == session.refreshToken.exposedText)
            }
            try await flushWrites()
        }
    }

    @Test func rowThatWasReadEarlierReplacesNoTokens() async throws {
        let sessions = sessions()
        let opened = try #require(try await open(sessions))
        let digest = opened.session.key.digest
        let stale = try #require(
            try world.database.readBlocking { try ConsoleSessionRecords($0).find(digest: digest) })
        world.clock.advance(seconds: 60)
        let session = try #require(try await renew(opened.cookie, at: sessions))
        let token = session.refreshToken.exposedText
        // The next request has compared it with its row.
        #expect(try find(opened.cookie, in: sessions) != nil)
        session.update(from: stale.sealed) {
            UserTokens(access: Secret("old"), renewAt: UnixTime(seconds: 0), refresh: Secret("old"))
        }
        #expect(session.refreshToken.exposedText == token)
        #expect(try find(opened.cookie, in: sessions)?.refreshToken.exposedText == token)
    }

    @Test func downloadsAndObjectsOfASessionAreKnownToEachGateway() async throws {
        let gateways = [sessions(), sessions(), sessions()]
        let cookie = try #require(try await open(gateways[0])).cookie
        let now = world.clock.now()
        let archive = try #require(ArchiveOptions(json: Array(#"{"fileIds": ["a", "b"]}"#.utf8)))
        for (index, gateway) in gateways.enumerated() {
            let session = try #require(try find(cookie, in: gateway))
            let text = try gateway.offer(
                OfferedDownload(kind: .archive(archive), organization: nil), in: session, at: now)
            let content = SealedContent(fileID: "\(index)", organization: nil, until: now.adding(seconds: 60))
            let address = try gateway.address(of: content, in: session)
            let others = [gateways[(index + 1) % 3], gateways[(index + 2) % 3]]
            let found = try others.map { try #require(try find(cookie, in: $0)) }
            for (other, session) in zip(others, found) {
                #expect(other.content(address, in: session, at: now) == content)
            }
            guard case .archive(let offered)? = try others[0].redeem(text, in: found[0], at: now)?.kind else {
                Issue.record("the ticket is not valid at another gateway")
                continue
            }
            #expect(offered.fileIds == ["a", "b"] && offered.filter == nil)
            #expect(try others[1].redeem(text, in: found[1], at: now) == nil)
            #expect(try gateway.redeem(text, in: session, at: now) == nil)
        }
    }

    @Test func typesThatCouldRunScriptsAreNotShown() {
        #expect(ShownType.shown("image/PNG; charset=x") == "image/png")
        for type in ["text/html", "image/svg+xml", "application/xhtml+xml", "text/xml", "", "image/png\n"] {
            #expect(ShownType.shown(type) == "application/octet-stream")
        }
    }
}
