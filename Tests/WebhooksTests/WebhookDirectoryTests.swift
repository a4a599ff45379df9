import Accounts
import Basics
import Capability
import Crypto
import Database
import GatewayTesting
import Proto
import RPC
import TestSupport
import Testing

@testable import Webhooks

@Suite(.timeLimited) struct WebhookDirectoryTests {
    private func admin(of organization: OrganizationReference) throws -> Caller {
        let user = UserPrincipal(
            userID: organization.id, name: "admin", role: .admin, epoch: 1, home: organization, isSystem: false)
        return try Caller(CallContext(method: EventServiceMethods.listWebhooks, identity: Principal.user(user)))
    }

    /// The names in the configuration are not bound while the organization does not exist, and a read cannot bind them.
    @Test func organizationCreatedAfterTheStartSeesItsWebhook() async throws {
        let scene = try Scene()
        let outbox = Outbox(
            webhooks: [Webhook(name: "a", url: "http://localhost", keys: [], organization: "late")],
            identifiers: Identifiers(clock: scene.clock), signals: [])
        let directory = WebhookDirectory(
            database: scene.database, clock: scene.clock, outbox: outbox,
            metrics: EventMetrics(webhooks: ["a"], database: scene.database, clock: scene.clock))
        let rows = AccountRows(scene.database)
        let other = try admin(of: OrganizationReference(id: try rows.addOrganization("o"), name: "o"))
        #expect(try await directory.webhooks(for: other).isEmpty)
        let late = try admin(of: OrganizationReference(id: try rows.addOrganization("late"), name: "late"))
        #expect(try await directory.webhooks(for: other).isEmpty)
        #expect(try await directory.webhooks(for: late).map(\.webhook.name) == ["a"])
        #expect(
            try await directory.deliveries(to: "a", before: nil, limit: PageLimit(rows: 10), for: late).rows.isEmpty)
        await #expect(throws: RPCError.notFound("webhook a is not configured")) {
            try await directory.deliveries(to: "a", before: nil, limit: PageLimit(rows: 10), for: other)
        }
        _ = try await directory.sendTest(to: "a", by: late)
        #expect(
            try await directory.deliveries(to: "a", before: nil, limit: PageLimit(rows: 10), for: late).rows.count == 1)
    }
}
