import Basics
import Proto
import TestSupport
import Testing

@testable import Console

@Suite(.timeLimited) struct SessionTableTests {
    private let start = UnixTime(seconds: 1_800_000_000)
    private let configuration = {
        var configuration = ConsoleConfiguration()
        configuration.sessionIdle = .seconds(100)
        configuration.sessionTotal = .seconds(250)
        configuration.maximumSessions = 3
        configuration.maximumSessionsPerUser = 2
        return configuration
    }()

    private func open(_ table: SessionTable, user: Int64 = 1, at now: UnixTime) -> SessionTable.Opened? {
        let response = LoginResponse(
            accessToken: "access", accessTokenExpiresAtUnix: now.seconds + 900, refreshToken: "refresh")
        return table.open(for: User(userName: "vera", userID: user), UserTokens(response, at: now), at: now)
    }

    @Test func aSessionIsFoundByItsCookieAndAdmittedByItsToken() throws {
        let table = SessionTable(configuration)
        let opened = try #require(open(table, at: start))
        let session = try #require(table.session(cookie: opened.cookie, at: start, isActivity: true))
        #expect(session.admits(token: opened.token))
        #expect(!session.admits(token: opened.cookie))
        #expect(!session.admits(token: nil))
        #expect(table.session(cookie: opened.token, at: start, isActivity: true) == nil)
        #expect(table.session(cookie: nil, at: start, isActivity: true) == nil)
        table.end(session)
        #expect(table.session(cookie: opened.cookie, at: start, isActivity: true) == nil)
    }

    @Test func itEndsWhenNobodyUsesIt() throws {
        let table = SessionTable(configuration)
        let cookie = try #require(open(table, at: start)).cookie
        #expect(table.session(cookie: cookie, at: start.adding(seconds: 90), isActivity: true) != nil)
        // Automatic refreshes of a page do not count as activity.
        #expect(table.session(cookie: cookie, at: start.adding(seconds: 180), isActivity: false) != nil)
        #expect(table.session(cookie: cookie, at: start.adding(seconds: 190), isActivity: true) == nil)
        #expect(table.session(cookie: cookie, at: start, isActivity: true) == nil)
    }

    @Test func itEndsWhateverItsUse() throws {
        let table = SessionTable(configuration)
        let cookie = try #require(open(table, at: start)).cookie
        for seconds in stride(from: Int64(0), to: 250, by: 50) {
            #expect(table.session(cookie: cookie, at: start.adding(seconds: seconds), isActivity: true) != nil)
        }
        #expect(table.session(cookie: cookie, at: start.adding(seconds: 250), isActivity: true) == nil)
    }

    @Test func oneMoreOfAUserEndsTheirOldest() throws {
        let table = SessionTable(configuration)
        let cookies = try (0..<3).map { try #require(open(table, at: start.adding(seconds: $0))).cookie }
        let found = cookies.map { table.session(cookie: $0, at: start.adding(seconds: 3), isActivity: true) != nil }
        #expect(found == [false, true, true])
    }

    @Test func thereAreSoManyAndNoMoreUntilOneHasEnded() throws {
        let table = SessionTable(configuration)
        for user in 1...3 { #expect(open(table, user: Int64(user), at: start) != nil) }
        #expect(open(table, user: 4, at: start) == nil)
        #expect(open(table, user: 4, at: start.adding(seconds: 100)) != nil)
    }

    @Test func anAccessTokenIsRenewedInTime() throws {
        let table = SessionTable(configuration)
        let session = try #require(open(table, at: start)).session
        var asked: [String] = []
        func token(at seconds: Int64) -> String? {
            let outcome = session.accessToken(at: start.adding(seconds: seconds)) { refresh, now in
                asked.append(refresh.exposedText)
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
        #expect(asked == ["refresh"])
        #expect(session.refreshToken.exposedText == "next")
    }

    @Test func addressOfADownloadIsValidOnceAndForAShortTime() throws {
        let session = try #require(open(SessionTable(configuration), at: start)).session
        let options = try #require(BackupOptions(json: Array(#"{"withoutObjects": true}"#.utf8)))
        let download = OfferedDownload(kind: .backup(options), organization: "acme")
        let first = session.offer(download, at: start)
        let second = session.offer(download, at: start)
        #expect(session.redeem(first, at: start) == nil)
        let redeemed = try #require(session.redeem(second, at: start))
        #expect(redeemed.organization == "acme")
        guard case .backup(let offered) = redeemed.kind else { throw CancellationError() }
        #expect(offered.withoutObjects)
        #expect(session.redeem(second, at: start) == nil)
        let late = session.offer(download, at: start)
        #expect(session.redeem(late, at: start.adding(seconds: 60)) == nil)
    }

    @Test func addressOfAnObjectIsValidUntilItsEnd() throws {
        let session = try #require(open(SessionTable(configuration), at: start)).session
        let access = try #require(ContentAccess(url: "http://store:50080/data/a%20b?Signature=x"))
        #expect((access.host, access.target) == ("store:50080", "/data/a%20b?Signature=x"))
        let grant = ContentGrant(fileID: "a", organization: nil, access: access, renewAt: start)
        let ticket = session.admit(grant, until: start.adding(seconds: 60))
        #expect(session.content(ticket, at: start)?.access.target == access.target)
        var renewed = grant
        renewed.renewAt = start.adding(seconds: 30)
        session.renew(ticket, renewed)
        #expect(session.content(ticket, at: start)?.renewAt == renewed.renewAt)
        #expect(session.content(ticket, at: start.adding(seconds: 59)) != nil)
        #expect(session.content(ticket, at: start.adding(seconds: 60)) == nil)
        #expect(session.content(String(ticket.reversed()), at: start) == nil)
        // The oldest makes room.
        for _ in 0..<64 { _ = session.admit(grant, until: start.adding(seconds: 60)) }
        #expect(session.content(ticket, at: start) == nil)
    }

    @Test func typesThatCouldRunScriptsAreNotShown() {
        #expect(ShownType.shown("image/PNG; charset=x") == "image/png")
        for type in ["text/html", "image/svg+xml", "application/xhtml+xml", "text/xml", "", "image/png\n"] {
            #expect(ShownType.shown(type) == "application/octet-stream")
        }
    }
}
