import Basics
import Capability
import Database
import DatabaseTesting
import GatewayAPI
import GatewayTesting
import Proto
import RPC
import TestSupport
import Testing
import Wire

@testable import Accounts

/// The lines that a filter selects, page by page.
@Suite(.timeLimited) struct AuditSearchTests {
    private static let people: [AuditActorKind] = [.user, .gateway, .unknown]

    /// The log of an organization: a person's lines among those of two devices.
    private final class World {
        let accounts: TestAccounts
        let token: String
        let organization: OrganizationReference

        init() async throws {
            accounts = try await TestAccounts { $0.accessTokenLifetime = .days(1) }
            token = try await accounts.createOrganization("acme", token: accounts.login().accessToken)
            let found = try accounts.database.readBlocking { try Accounts.organization(named: "acme", in: $0) }
            organization = try #require(found)
        }

        func write(_ actor: String, _ action: String, _ target: String = "", ids: [String] = [], result: String = "OK")
            async throws
        {
            var entry = AuditEntry(
                actor: actor, organization: organization, action: action, target: target, peer: "192.0.2.1",
                result: result)
            entry.ids = ids
            entry.count = max(1, ids.count)
            let now = accounts.clock.now()
            try await accounts.database.write { [entry] in try Audit.record(entry, at: now, in: $0) }
        }

        func page(_ request: ListAuditLinesRequest) async throws -> ListAuditLinesResponse {
            try await accounts.accounts.auditService(AuditVocabulary([AccountManagement.self])).listAuditLines(
                request, context: accounts.call(AuditServiceMethods.listAuditLines, token: token))
        }

        /// Returns the lines of all pages.
        func lines(_ request: ListAuditLinesRequest) async throws -> [AuditLine] {
            var (request, lines) = (request, [AuditLine]())
            while true {
                let page = try await page(request)
                lines += page.lines
                guard page.hasMore else { return lines }
                request.pageToken = page.nextPageToken
            }
        }

        /// Returns the actors and actions of the lines.
        func found(_ request: ListAuditLinesRequest) async throws -> [String] {
            try await lines(request).map { "\($0.actor) \($0.action) \($0.target)" }
        }
    }

    private func filled() async throws -> World {
        let world = try await World()
        for number in 0..<6 {
            try await world.write("device:260427-00000\(number % 2)", "CompleteUpload", "uploads/u\(number)")
            try await world.write("user:acme/anna", "DisableDevice", "devices/260427-00000\(number % 2)")
        }
        try await world.write("user:acme/ben", "RequestDownload", "files", ids: ["f1", "f2"])
        try await world.write("user:acme/ben", "DeleteObject", "objects/f1", result: "PERMISSION_DENIED")
        try await world.write("gateway", "SweepTrash", "trash/30", ids: ["f3"])
        try await world.write("site:4", "CompleteUpload", "uploads/u9")
        return world
    }

    @Test func filtersAreCombined() async throws {
        let world = try await filled()
        typealias Request = ListAuditLinesRequest
        #expect(
            try await world.found(Request(actor: "user:*/ben"))
                == ["user:acme/ben RequestDownload files", "user:acme/ben DeleteObject objects/f1"])
        #expect(
            try await world.found(Request(actor: "user:acme/ben", result: "!OK"))
                == ["user:acme/ben DeleteObject objects/f1"])
        #expect(try await world.found(Request(action: "Disable*", target: "260427-000001")).count == 3)
        #expect(try await world.found(Request(action: "disable*")).isEmpty)
        // An id is found as the target, and among others.
        #expect(
            try await world.found(Request(target: "f1"))
                == ["user:acme/ben RequestDownload files", "user:acme/ben DeleteObject objects/f1"])
        #expect(try await world.found(Request(target: "f")).isEmpty)
        #expect(try await world.found(Request(target: "%")).isEmpty)
        #expect(try await world.found(Request(target: "uploads/u9")) == ["site:4 CompleteUpload uploads/u9"])
        #expect(try await world.found(Request(actorKinds: [.key])) == ["site:4 CompleteUpload uploads/u9"])
        #expect(try await world.found(Request(actorKinds: [.device], action: "CompleteUpload")).count == 6)
        #expect(try await world.found(Request(actorKinds: [.gateway])) == ["gateway SweepTrash trash/30"])
        #expect(try await world.found(Request(actionGroup: .signIn)) == ["user:acme/boss Login users/2"])
    }

    @Test func linesBeforeATimeAreListed() async throws {
        let world = try await filled()
        world.accounts.clock.advance(seconds: 3600)
        let later = world.accounts.clock.now()
        try await world.write("user:acme/carl", "Login")
        let request = ListAuditLinesRequest(until: Timestamp(later), action: "Login")
        #expect(try await world.found(request) == ["user:acme/boss Login users/2"])
        let since = ListAuditLinesRequest(since: Timestamp(later), action: "Login")
        #expect(try await world.found(since) == ["user:acme/carl Login "])
    }

    @Test(arguments: [false, true]) func shortPagesContinueToTheEnd(newestFirst: Bool) async throws {
        let world = try await filled()
        let filter = try AuditFilter(ListAuditLinesRequest(actor: "user:acme/ben"), AuditVocabulary())
        let query = AuditQuery(
            organizationID: world.organization.id, since: UnixTime(microseconds: 0), filter: filter,
            newestFirst: newestFirst)
        let search = AuditSearch(database: world.accounts.database, query: query, budget: 3)
        var (position, found, pages) = (Int64?.none, [String](), 0)
        repeat {
            let page = try await search.page(from: position, limit: PageLimit(rows: 1))
            found += page.lines.map(\.entry.action)
            position = page.next
            pages += 1
            guard page.hasMore else { break }
        } while position != nil
        #expect(found == (newestFirst ? ["DeleteObject", "RequestDownload"] : ["RequestDownload", "DeleteObject"]))
        #expect(pages > 4)
    }

    @Test func endOfAFilteredListContinuesWithLaterLines() async throws {
        let world = try await filled()
        var request = ListAuditLinesRequest(actorKinds: Self.people, actor: "user:acme/dora")
        let end = try await world.page(request)
        #expect(end.lines.isEmpty && !end.hasMore)
        try await world.write("device:260427-000001", "CompleteUpload")
        try await world.write("user:acme/dora", "Login")
        request.pageToken = end.nextPageToken
        #expect(try await world.found(request) == ["user:acme/dora Login "])
        request.actor = "user:acme/ben"
        await #expect(throws: RPCError.self) { try await world.page(request) }
    }

    @Test func linesOfDevicesAreFoldedByHour() async throws {
        let world = try await filled()
        world.accounts.clock.advance(seconds: 3600)
        for number in 0..<3 { try await world.write("device:260427-000000", "CompleteUpload", "uploads/v\(number)") }
        let folded = try await world.lines(ListAuditLinesRequest(action: "CompleteUpload", foldKeys: true))
        #expect(
            folded.map(\.actor) == ["device:260427-000000", "site:4", "device:260427-000001", "device:260427-000000"])
        #expect(folded.map(\.lineCount) == [3, 0, 3, 3])
        #expect(folded.map(\.count) == [3, 1, 3, 3])
        #expect(folded.map(\.target) == ["uploads/v2", "uploads/u9", "uploads/u5", "uploads/u4"])
        let people = try await world.lines(ListAuditLinesRequest(actor: "user:acme/anna", foldKeys: true))
        #expect(people.count == 6 && people.allSatisfy { $0.lineCount == 0 })
        // The combined lines are those of the times of their row.
        let row = folded[2]
        let opened = try await world.lines(
            ListAuditLinesRequest(
                since: row.firstAt, until: row.at.flatMap(\.time).map { Timestamp($0.adding(microseconds: 1)) },
                actor: row.actor, action: row.action))
        #expect(opened.map(\.target) == ["uploads/u1", "uploads/u3", "uploads/u5"])
    }

    @Test func viewsOfAnObjectAreFoldedByPersonAndHour() async throws {
        let world = try await World()
        for _ in 0..<3 { try await world.write("user:acme/anna", "ViewObjects", "files/f1") }
        try await world.write("user:acme/anna", "ViewObjects", "files/f2")
        try await world.write("user:acme/ben", "ViewObjects", "files/f1")
        for _ in 0..<2 { try await world.write("user:acme/ben", "RequestDownload", "files/f1") }
        world.accounts.clock.advance(seconds: 3600)
        try await world.write("user:acme/anna", "ViewObjects", "files/f1")
        let lines = try await world.lines(ListAuditLinesRequest(target: "f*", foldKeys: true))
        #expect(
            lines.map { "\($0.actor) \($0.action) \($0.target) \($0.count)" } == [
                "user:acme/anna ViewObjects files/f1 1", "user:acme/ben RequestDownload files/f1 1",
                "user:acme/ben RequestDownload files/f1 1", "user:acme/ben ViewObjects files/f1 1",
                "user:acme/anna ViewObjects files/f2 1", "user:acme/anna ViewObjects files/f1 3",
            ])
    }

    @Test func pageOfFoldedLinesEndsBetweenTwoHours() async throws {
        let world = try await World()
        for hour in 0..<3 {
            for number in 0..<4 {
                try await world.write("device:26042\(number)-000001", "CompleteUpload", "uploads/\(hour)")
            }
            world.accounts.clock.advance(seconds: 3600)
        }
        let first = try await world.page(ListAuditLinesRequest(pageSize: 2, action: "CompleteUpload", foldKeys: true))
        #expect(first.lines.map(\.target) == Array(repeating: "uploads/2", count: 4))
        let all = try await world.lines(ListAuditLinesRequest(pageSize: 2, action: "CompleteUpload", foldKeys: true))
        #expect(all.count == 12)
    }

    @Test func fieldsOfTheFilterAreChecked() async throws {
        let world = try await World()
        let requests: [(ListAuditLinesRequest, String)] = [
            (ListAuditLinesRequest(actorKinds: [.user, .unspecified]), "actor_kinds must hold kinds of actors, not 0"),
            (ListAuditLinesRequest(actor: "a\nb"), "actor must not contain control characters"),
            (ListAuditLinesRequest(action: String(repeating: "a", count: 257)), "action must be at most 256 bytes"),
            (ListAuditLinesRequest(target: "*a*b*c*d*e*f*g*h*"), "target must have at most 8 asterisks"),
            (ListAuditLinesRequest(until: Timestamp(seconds: .max, nanos: 0)), "until is not a valid time"),
            (ListAuditLinesRequest(actionGroup: .unrecognized(9)), "action_group must be one of 0 to 8"),
        ]
        for (request, message) in requests {
            let error = await refusal { _ = try await world.page(request) }
            #expect(error?.message.hasPrefix(message) == true, "\(message)")
            #expect(error?.detail == .invalidArgument)
        }
    }

    @Test(.onSQLite, arguments: [[AuditActorKind.user], people])
    func linesOfPeopleAreFoundByTheirIndex(kinds: [AuditActorKind]) async throws {
        let world = try await World()
        let filter = try AuditFilter(ListAuditLinesRequest(actorKinds: kinds, target: "f1"), AuditVocabulary())
        let query = AuditQuery(
            organizationID: 1, since: UnixTime(microseconds: 0), filter: filter, newestFirst: true)
        var arguments: [(any Bindable)?] = []
        let conditions = query.indexedConditions(of: 0..<10, &arguments) + filter.conditions(&arguments)
        let plan = try world.accounts.database.readBlocking { connection in
            try connection.query(
                "EXPLAIN QUERY PLAN SELECT * FROM audit WHERE \(conditions.joined(separator: " AND ")) ORDER BY id DESC",
                arguments: arguments
            ) { $0.text("detail") }
        }
        #expect(plan.count == 1 && plan.first?.contains("USING INDEX audit_of_people") == true, "\(plan)")
    }
}

@Suite(.timeLimited) struct TextPatternTests {
    @Test(arguments: [
        ("user:acme/*", "user:acme/anna", true), ("user:acme/*", "user:acm/anna", false),
        ("*anna", "user:acme/anna", true),
        ("a*b*c", "a1b2c", true), ("a*b*c", "acb", false), ("ab*ba", "aba", false), ("*", "", true), ("", "", true),
        ("a", "ab", false), ("a**b", "ab", true),
    ])
    func asteriskStandsForAnyText(pattern: String, text: String, isMatch: Bool) {
        #expect(TextPattern(pattern).matches(text) == isMatch)
    }

    @Test func otherCharactersOfSQLStandForThemselves() {
        #expect(TextPattern("50%_a\\*").likePattern == "50\\%\\_a\\\\%")
    }
}
