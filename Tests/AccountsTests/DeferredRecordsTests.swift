import Basics
import Database
import Dispatch
import GatewayProto
import GatewayTesting
import TestSupport
import Testing

@testable import Accounts

@Suite(.timeLimited) struct DeferredRecordsTests {
    @Test func refusalsOfOneOrganizationDoNotHideThoseOfAnother() async throws {
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        for name in ["loud", "quiet"] { _ = try await world.createOrganization(name, token: admin) }
        let organizations = try await world.database.read { try OrganizationRecords($0).all().map(\.reference) }
        func note(_ user: String, of organization: String) {
            world.accounts.deferred.note(
                AuditEntry(
                    actor: "user:\(organization)/\(user)",
                    organization: organizations.first { $0.name == organization },
                    action: "DeleteSite", target: "", peer: "192.0.2.7", result: "PERMISSION_DENIED"),
                at: world.clock.now())
        }
        for number in 0..<1200 { note("u\(number)", of: "loud") }
        note("eve", of: "quiet")
        let before = try world.audit().count
        world.accounts.deferred.flush(at: world.clock.now())
        try await world.database.write { _ in }
        let lines = try world.audit().dropFirst(before)
        #expect(lines.count == 252)
        #expect(lines.contains("user:quiet/eve quiet DeleteSite  PERMISSION_DENIED 1"))
        #expect(lines.contains("others loud DeleteSite  PERMISSION_DENIED 950"))
    }

    @Test func recordsOfAllAreWrittenWhenTheOneWhoCallsMayNotWrite() async throws {
        let world = try await TestAccounts()
        let owner = WorkOwner.user(7, of: 1)
        let before = try world.audit().count
        // The writer is occupied, and the owner has as many waiting writes as it may have.
        let release = DispatchSemaphore(value: 0)
        world.database.submit({ _ in try release.waitForSignal() }, reply: { _ in })
        for _ in 0..<600 { world.database.submit(for: owner, { _ in }, reply: { _ in }) }
        WorkOwner.$current.withValue(owner) {
            world.accounts.deferred.noteDenial("Login", "UNAUTHENTICATED", host: "192.0.2.7", at: world.clock.now())
            world.accounts.deferred.flush(at: world.clock.now())
        }
        release.signal()
        try await world.database.write { _ in }
        #expect(try world.audit().count == before + 1)
    }
}
