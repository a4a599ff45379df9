import Accounts
import Basics
import Database
import GatewayTesting
import Identity
import Members
import RPC
import TestSupport
import Testing

@testable import Companions

/// Calls that wait for messages.
@Suite(.timeLimited) struct CompanionInboxTests {
    @Test func watchEndsIfTheGatewayStopsDuringTheCheckOfItsSession() async throws {
        let world = try await TestAccounts(migrations: Identity.migrations + CompanionsApp.migrations)
        let app = try await RunningCompanions(world)
        let now = world.clock.now()
        let organization = app.service.callers.organization
        let userID = try await world.database.write { connection in
            let user = try Identity.member(
                issuer: CompanionCallers.issuer, subject: "ada@example.com", email: nil,
                organizationID: organization.reference.id, at: now, in: connection
            ).user
            try MemberProfileRecords(connection).insert(
                MemberProfile(userID: user.id, email: "ada@example.com", username: "ada of old", createdAt: now))
            return user.id
        }
        let (news, state) = (Signal(), ServingState())
        let inbox = CompanionInbox(
            database: world.database, clock: world.clock, documents: app.service.documents, news: news, state: state)
        var checks = 0
        try await inbox.watch(
            userID, after: 0,
            isValid: {
                checks += 1
                state.stopServing()
                news.notify()
                return true
            }
        ) { _ in Issue.record("There is no message to send.") }
        #expect(checks == 1)
    }
}
