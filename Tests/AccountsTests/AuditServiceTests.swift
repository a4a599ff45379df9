import Basics
import Capability
import Database
import DatabaseTesting
import Foundation
import GatewayAPI
import GatewayTesting
import Proto
import RPC
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Accounts

extension TestAccounts {
    fileprivate var auditService: AuditService { accounts.auditService(AuditVocabulary([AccountManagement.self])) }
}

@Suite(.timeLimited) struct AuditServiceTests {
    private func page(
        _ world: TestAccounts, token: String, since: UnixTime? = nil, size: Int32 = 0, page: String = "",
        newestFirst: Bool = false
    ) async throws -> ListAuditLinesResponse {
        try await world.auditService.listAuditLines(
            ListAuditLinesRequest(
                since: since.map { Timestamp($0) }, pageSize: size, pageToken: page, newestFirst: newestFirst),
            context: world.call(AuditServiceMethods.listAuditLines, token: token))
    }

    private func write(_ lines: Int, _ world: TestAccounts, organization name: String = "acme") async throws {
        let now = world.clock.now()
        try await world.database.write { connection in
            let known = try OrganizationRecords(connection).find(name: name)?.reference
            let organization = known ?? OrganizationReference(id: 1000, name: name)
            for index in 0..<lines {
                let entry = AuditEntry(
                    actor: "device:\(index)", organization: organization, action: "CompleteUpload", target: "", peer: ""
                )
                try Audit.record(entry, at: now, in: connection)
            }
        }
    }

    @Test func aLineSaysWhoDidWhatToWhat() async throws {
        let world = try await TestAccounts()
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
        let world = try await TestAccounts()
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
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        try await write(5, world)
        let first = try await page(world, token: admin, size: 4, newestFirst: true)
        #expect(first.lines.map(\.lineID) == [6, 5, 4, 3])
        // Lines that are added meanwhile do not shift the pages.
        try await write(1, world)
        let second = try await page(world, token: admin, size: 4, page: first.nextPageToken, newestFirst: true)
        #expect(second.lines.map(\.lineID) == [2, 1])
        #expect(second.nextPageToken.isEmpty)
        // A token is only valid for one direction.
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

    @Test func linesBeforeSinceAreLeftOut() async throws {
        let world = try await TestAccounts()
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
            _ = try await world.auditService.listAuditLines(
                ListAuditLinesRequest(since: never),
                context: world.call(AuditServiceMethods.listAuditLines, token: admin))
        }
        #expect(error?.detail == .invalidArgument)
    }

    @Test func anAdminSeesTheirOrganizationAndSystemEverything() async throws {
        let world = try await TestAccounts()
        let system = try await world.login().accessToken
        let boss = try await world.createOrganization("acme", token: system)
        try await write(2, world, organization: "other")
        try await write(1, world, organization: "acme")
        #expect(try await page(world, token: boss).lines.map(\.organization) == ["acme", "acme"])
        let asAcme = try await world.auditService.listAuditLines(
            ListAuditLinesRequest(),
            context: world.call(AuditServiceMethods.listAuditLines, token: system, organization: "acme"))
        #expect(asAcme.lines.map(\.organization) == ["acme", "acme"])
        #expect(
            Set(try await page(world, token: system).lines.map(\.organization)) == ["system", "acme", "other"])
    }

    @Test func linesAreKeptForTheirTime() async throws {
        let world = try await TestAccounts { $0.auditRetention = .days(2) }
        try await write(2501, world)
        world.clock.advance(seconds: 86_400)
        try await write(10, world)
        world.clock.advance(seconds: 86_400 + 61)
        #expect(try await world.accounts.tidy(world.clockGuard.permit()) == 2501)
        let left = try world.audit()
        #expect(left.count == 13)
        #expect(left.first == "device:0 acme CompleteUpload  OK 1")
        #expect(
            left.suffix(3) == [
                "gateway  PurgeAuditLog auditLines/1-1000 OK 1000",
                "gateway  PurgeAuditLog auditLines/1001-2000 OK 1000",
                "gateway  PurgeAuditLog auditLines/2001-2501 OK 501",
            ])
        #expect(try await world.accounts.tidy(world.clockGuard.permit()) == 0)
        #expect(try world.audit().count == 13)
    }

    @Test func linesOfAWrongClockAreKeptForTheirTime() async throws {
        let world = try await TestAccounts { $0.auditRetention = .days(2) }
        try await write(5, world)
        world.clock.step(seconds: 400 * 86_400)
        #expect(try await world.accounts.tidy(world.clockGuard.permit()) == 0)
        world.clock.step(seconds: -800 * 86_400)
        #expect(world.clockGuard.permit() == nil)
        try await write(7, world)
        world.clock.step(seconds: 400 * 86_400)
        world.clock.advance(seconds: 86_400)
        #expect(try await world.accounts.tidy(world.clockGuard.permit()) == 0)
        world.clock.advance(seconds: 86_400 + 61)
        #expect(try await world.accounts.tidy(world.clockGuard.permit()) == 12)
    }

    @Test func noMoreLinesOfAnOrganizationAreKeptThanThereMayBe() async throws {
        let world = try await TestAccounts {
            $0.auditLines = 1000
            $0.minimumAuditRetention = .zero
        }
        try await write(5, world, organization: "another")
        try await world.database.write { connection in
            for index in 0..<1000 {
                let entry = AuditEntry(actor: "gateway", action: "Sweep", target: "\(index)", peer: "")
                try Audit.record(entry, at: world.clock.now(), in: connection)
            }
        }
        let others = try world.audit()
        #expect(try await world.accounts.tidy(world.clockGuard.permit()) == 0)
        let system = try await world.login().accessToken
        _ = try await world.createOrganization("acme", token: system)
        let acme = try world.audit().count - others.count
        try await write(2500, world)
        for _ in 0..<2 {
            _ = try await world.accounts.tidy(world.clockGuard.permit())
            let left = try world.audit()
            #expect(Array(left.prefix(others.count)) == others)
            #expect(left.filter { $0.contains(" acme ") }.count <= 1000)
            #expect(left.count(where: { $0.hasPrefix("gateway acme PurgeAuditLog") }) == 2)
        }
        #expect(acme > 0)
    }

    @Test func youngLinesAreKeptHoweverManyThereAre() async throws {
        let written = Lock<[String]>([])
        let world = try await TestAccounts(log: Logger { line in written.withLock { $0.append(line) } }) {
            $0.auditLines = 1000
        }
        try await write(1500, world)
        #expect(try await world.accounts.tidy(world.clockGuard.permit()) == 0)
        #expect(try await world.accounts.tidy(world.clockGuard.permit()) == 0)
        #expect(world.accounts.auditPressure.overfullCount == 1)
        world.clock.advance(seconds: 30 * 86_400 + 61)
        #expect(try await world.accounts.tidy(world.clockGuard.permit()) > 500)
        let lines = written.withLock { $0 }
        #expect(lines.count == 2)
        #expect(lines.first?.hasPrefix("warning organizations exceed audit.max_lines") == true)
        #expect(lines.first?.contains("organizations=#1000 max_lines=1000") == true)
        #expect(lines.last == "info    no organization exceeds audit.max_lines any more")
        #expect(try world.audit().count <= 1000)
    }

    @Test func callersWhoFillTheLogAreSlowedDown() async throws {
        // Whether a method reads is what its description says, and not a matter of its name.
        let search = MethodDescriptor(service: "a", name: "SearchSites", kind: .unary, isSideEffectFree: true)
        let world = try await TestAccounts(access: TestAccounts.access(with: AccessTable([(.user(.viewer), [search])])))
        {
            $0.auditLines = 1000
            $0.auditedCallsUnderPressure = 3
        }
        let system = try await world.login().accessToken
        let boss = try await world.createOrganization("acme", token: system)
        _ = try await world.createUser("eve", role: "admin", token: boss)
        let eve = try await world.login("eve", organization: "acme", password: "long enough")
        try await write(2000, world)
        _ = try await world.accounts.tidy(world.clockGuard.permit())
        func call(_ method: MethodDescriptor, _ token: String) -> RPCError? {
            do {
                _ = try world.call(method, token: token)
                return nil
            } catch { return error as? RPCError }
        }
        for _ in 0..<3 { #expect(call(AdminAuthServiceMethods.createSite, eve.accessToken) == nil) }
        #expect(call(AdminAuthServiceMethods.createSite, eve.accessToken)?.detail == .rateLimited)
        #expect(await refusal { _ = try await world.refresh(eve.refreshToken) }?.status == .unavailable)
        // Neither calls that only read are limited, nor callers who have not made many.
        #expect(call(AdminAuthServiceMethods.listSites, eve.accessToken) == nil)
        #expect(call(search, eve.accessToken) == nil)
        #expect(call(AdminAuthServiceMethods.createSite, boss) == nil)
        #expect(call(AdminAuthServiceMethods.createSite, system) == nil)
        #expect(world.accounts.auditPressure.refusedCount == 2)
    }

    @Test func aCallAboutManyLeavesOneLineThatNamesEach() async throws {
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        let context = try world.call(AdminAuthServiceMethods.createSite, token: admin)
        let ids = (0..<1000).map { "file-\($0)" }
        try await world.database.write { connection in
            let caller = try Caller(context)
            try Audit.record(caller.did(to: ids, of: "files"), at: world.clock.now(), in: connection)
            try Audit.record(caller.did(to: ["file-7"], of: "files"), at: world.clock.now(), in: connection)
        }
        let lines = try await page(world, token: admin).lines.suffix(2)
        #expect(lines.map(\.target) == ["files", "files/file-7"])
        #expect(lines.map(\.ids) == [ids, []])
        #expect(lines.map(\.count) == [1000, 1])
        // The entry counts as the number of lines that its bytes correspond to.
        let counted = try world.database.readBlocking { try AuditUsageRecords($0).lines(of: 1) }
        #expect(counted == Int64(3 + ids.joined(separator: " ").utf8.count / 200))
    }

    @Test func aDeletedOrganizationsLinesAreNotItsNamesakes() async throws {
        let world = try await TestAccounts()
        let system = try await world.login().accessToken
        _ = try await world.createOrganization("acme", token: system)
        _ = try await world.adminService.deleteOrganization(
            DeleteOrganizationRequest(organization: "acme"),
            context: world.call(AdminAuthServiceMethods.deleteOrganization, token: system))
        world.clock.advance(seconds: 1)
        let boss = try await world.createOrganization("acme", token: system)
        #expect(try await page(world, token: boss).lines.map(\.action) == ["Login"])
        #expect(try await page(world, token: system).lines.count { $0.organization == "acme" } == 2)
    }

    @Test(.onSQLite) func linesOfAnOlderVersionAreThoseOfWhoHadTheName() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("audit-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let older = try Database(path: path + "/db", migrations: Array(Accounts.migrations.prefix(3)))
        try older.writeBlocking { connection in
            _ = try connection.execute(
                """
                INSERT INTO organizations (id, name, display_name, kind, created_at, updated_at)
                VALUES (7, 'acme', '', 1, 1000, 1000), (8, 'other', '', 1, 500, 500)
                """)
            for (at, name) in [(900, "acme"), (1000, "acme"), (1001, "acme"), (501, "other"), (5000, "gone"), (1, "")] {
                _ = try connection.execute(
                    """
                    INSERT INTO audit (at, actor, organization, action, target, peer, result)
                    VALUES ($1, 'a', $2, 'b', '', '', 'OK')
                    """, at, name)
            }
        }
        older.close()
        let newer = try Database(path: path + "/db", migrations: Accounts.migrations)
        defer { newer.close() }
        let ids = try newer.readBlocking {
            try $0.query("SELECT organization_id FROM audit ORDER BY id") { $0.int64(0) }
        }
        #expect(ids == [0, 7, 7, 8, 0, 0])
        #expect(try newer.readBlocking { try AuditUsageRecords($0).all() }.map(\.lines) == [3, 2, 1])
        #expect(throws: (any Error).self) {
            try newer.writeBlocking { _ = try $0.execute("UPDATE audit SET actor = 'c'") }
        }
        #expect(throws: (any Error).self) { try newer.writeBlocking { _ = try $0.execute("DELETE FROM audit") } }
    }

    @Test func aSettingIsNotForTheNamesakeOfADeletedOrganization() async throws {
        let world = try await TestAccounts()
        let system = try await world.login().accessToken
        let named = ConfiguredOrganization(setting: "webhooks.a", name: "acme")
        let record: @Sendable ([ConfiguredOrganization]) async throws -> [ConfiguredOrganization] = { all in
            try await world.database.write { try ConfiguredOrganization.record(all, in: $0) }
        }
        #expect(try await record([named]) == [])
        #expect(try await world.database.write { try named.bind(in: $0) } == nil)
        #expect(try await world.database.read { try named.id(in: $0) } == nil)
        _ = try await world.createOrganization("acme", token: system)
        #expect(try await world.database.read { try named.id(in: $0) } == 2)
        #expect(try await world.database.write { try named.bind(in: $0) } == 2)
        _ = try await world.adminService.deleteOrganization(
            DeleteOrganizationRequest(organization: "acme"),
            context: world.call(AdminAuthServiceMethods.deleteOrganization, token: system))
        _ = try await world.createOrganization("acme", token: system)
        #expect(try await world.database.write { try named.bind(in: $0) } == 2)
        #expect(try await world.database.read { try named.id(in: $0) } == 2)
        #expect(try await record([named]) == [named])
        #expect(try await record([]) == [])
        #expect(try await record([named]) == [])
        #expect(try await world.database.write { try named.bind(in: $0) } == 3)
    }
}
