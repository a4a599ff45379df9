import Database
import Platform
import Proto
import RPC
import Testing
import Wire

@testable import Accounts

@Suite struct AuditServiceTests {
    private func page(
        _ world: World, token: String, since: UnixTime? = nil, size: Int32 = 0, page: String = "",
        organization: String? = nil, newestFirst: Bool = false
    ) async throws -> ListAuditLinesResponse {
        try await world.accounts.auditService.listAuditLines(
            ListAuditLinesRequest(
                since: since.map { Timestamp($0) }, pageSize: size, pageToken: page, newestFirst: newestFirst),
            context: world.call(AuditServiceMethods.listAuditLines, token: token, organization: organization))
    }

    private func write(_ lines: Int, _ world: World, organization: String = "acme") async throws {
        let now = world.clock.now()
        try await world.database.write { connection in
            for index in 0..<lines {
                let entry = AuditEntry(
                    actor: "device:\(index)", organization: organization, action: "CompleteUpload", target: "", peer: ""
                )
                try Audit.record(entry, at: now, in: connection)
            }
        }
    }

    @Test func aLineSaysWhoDidWhatToWhat() async throws {
        let world = try await World()
        let admin = try await world.login().accessToken
        let site = try await world.createSite(token: admin)
        let line = try #require(try await page(world, token: admin).lines.last)
        #expect(
            line
                == AuditLine(
                    lineID: 2, at: Timestamp(world.clock.now()), actor: "user:system/admin", organization: "system",
                    action: "CreateSite", target: "sites/\(site.siteID)", peer: "192.0.2.7", result: "OK", count: 1))
    }

    @Test func thePagesEndWhereTheLogEndsAndGoOnFromThere() async throws {
        let world = try await World()
        let admin = try await world.login().accessToken
        try await write(5, world)
        let first = try await page(world, token: admin, size: 4)
        let second = try await page(world, token: admin, size: 4, page: first.nextPageToken)
        #expect((first.lines + second.lines).map(\.lineID) == Array(1...6))
        let end = try await page(world, token: admin, size: 4, page: second.nextPageToken)
        #expect(end.lines.isEmpty)
        try await write(1, world)
        #expect(try await page(world, token: admin, size: 4, page: end.nextPageToken).lines.map(\.lineID) == [7])
        for other in ["nonsense", String(end.nextPageToken.dropLast())] {
            #expect(await refusal { _ = try await page(world, token: admin, page: other) }?.detail == .invalidArgument)
        }
        let since = world.clock.now()
        let another = await refusal {
            _ = try await page(world, token: admin, since: since, page: end.nextPageToken)
        }
        #expect(another?.detail == .invalidArgument)
    }

    @Test func fromTheLastLineBack() async throws {
        let world = try await World()
        let admin = try await world.login().accessToken
        try await write(5, world)
        let first = try await page(world, token: admin, size: 4, newestFirst: true)
        #expect(first.lines.map(\.lineID) == [6, 5, 4, 3])
        // What comes meanwhile moves nothing.
        try await write(1, world)
        let second = try await page(world, token: admin, size: 4, page: first.nextPageToken, newestFirst: true)
        #expect(second.lines.map(\.lineID) == [2, 1])
        #expect(second.nextPageToken.isEmpty)
        // A token is of one direction.
        let error = await refusal { _ = try await page(world, token: admin, size: 4, page: first.nextPageToken) }
        #expect(error?.detail == .invalidArgument)

        let boss = try await world.createOrganization("acme", token: admin)
        world.clock.advance(seconds: 100)
        let now = world.clock.now()
        try await write(2, world, organization: "acme")
        let own = try await page(world, token: boss, since: now, newestFirst: true)
        #expect(own.lines.map(\.actor) == ["device:1", "device:0"])
        let none = try await page(world, token: boss, since: now.adding(seconds: 1000), newestFirst: true)
        #expect(none.lines.isEmpty && none.nextPageToken.isEmpty)
    }

    @Test func whatIsOlderIsLeftOut() async throws {
        let world = try await World()
        let admin = try await world.login().accessToken
        try await write(3, world)
        world.clock.advance(seconds: 30)
        let now = world.clock.now()
        try await write(2, world)
        #expect(try await page(world, token: admin, since: now).lines.map(\.lineID) == [5, 6])
        world.clock.advance(seconds: 800)
        #expect(try await page(world, token: admin, since: world.clock.now()).lines.isEmpty)
        let never = Timestamp(seconds: .max, nanos: 0)
        let error = await refusal {
            _ = try await world.accounts.auditService.listAuditLines(
                ListAuditLinesRequest(since: never),
                context: world.call(AuditServiceMethods.listAuditLines, token: admin))
        }
        #expect(error?.detail == .invalidArgument)
    }

    @Test func anAdminSeesTheirOrganizationAndSystemEverything() async throws {
        let world = try await World()
        let system = try await world.login().accessToken
        let boss = try await world.createOrganization("acme", token: system)
        try await write(2, world, organization: "other")
        try await write(1, world, organization: "acme")
        #expect(try await page(world, token: boss).lines.map(\.organization) == ["acme", "acme"])
        let asAcme = try await page(world, token: system, organization: "acme")
        #expect(asAcme.lines.map(\.organization) == ["acme", "acme"])
        #expect(
            Set(try await page(world, token: system).lines.map(\.organization)) == ["system", "acme", "other"])
    }

    @Test func linesAreKeptForTheirTime() async throws {
        let world = try await World { $0.auditDays = 2 }
        try await write(2501, world)
        world.clock.advance(seconds: 86_400)
        try await write(10, world)
        world.clock.advance(seconds: 86_400 + 61)
        #expect(try await world.accounts.tidy() == 2501)
        let left = try world.audit()
        #expect(left.count == 13)
        #expect(left.first == "device:0 acme CompleteUpload  OK 1")
        #expect(
            left.suffix(3) == [
                "gateway  PurgeAuditLog auditLines/1-1000 OK 1000",
                "gateway  PurgeAuditLog auditLines/1001-2000 OK 1000",
                "gateway  PurgeAuditLog auditLines/2001-2501 OK 501",
            ])
        #expect(try await world.accounts.tidy() == 0)
        #expect(try world.audit().count == 13)
    }

    @Test func noMoreLinesAreKeptThanThereMayBe() async throws {
        let world = try await World { $0.auditLines = 1000 }
        try await write(1000, world)
        #expect(try await world.accounts.tidy() == 0)
        #expect(try world.audit().count == 1000)
        try await write(1, world)
        for _ in 0..<2 {
            _ = try await world.accounts.tidy()
            let left = try world.audit()
            #expect(left.count == 991)
            #expect(left.last == "gateway  PurgeAuditLog auditLines/1-11 OK 11")
        }
    }
}
