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
    /// Adds a member, and returns their id.
    private func member(of app: RunningCompanions, in world: TestAccounts) async throws -> Int64 {
        let (now, organization) = (world.clock.now(), app.service.callers.organization)
        return try await world.database.write { connection in
            let user = try Identity.member(
                issuer: CompanionCallers.issuer, subject: "ada@example.com", email: nil,
                organizationID: organization.reference.id, at: now, in: connection
            ).user
            try MemberProfileRecords(connection).insert(
                MemberProfile(userID: user.id, email: "ada@example.com", username: "ada of old", createdAt: now))
            return user.id
        }
    }

    @Test func watchGetsTheMessageOfAnotherGateway() async throws {
        let world = try await TestAccounts(
            migrations: Identity.migrations + CompanionsApp.migrations, hasReplicas: true)
        let app = try await RunningCompanions(world)
        let userID = try await member(of: app, in: world)
        // The signal and the state of a gateway belong to it alone.
        func inbox(_ state: ServingState) -> CompanionInbox {
            CompanionInbox(
                database: world.database, clock: world.clock, documents: app.service.documents, news: Signal(),
                state: state)
        }
        let state = ServingState()
        let texts = Lock<[String]>([])
        let watching = inbox(state)
        let watch = Task {
            try await watching.watch(userID, after: 0, isValid: { true }) { message in
                texts.withLock { $0.append(message.body) }
                state.stopServing()
            }
        }
        // It has found nothing, and waits.
        await world.calls.next(6)
        try await inbox(ServingState()).announce("hello") { _ in }
        try await watch.value
        #expect(texts.withLock { $0 } == ["hello"])
    }

    @Test func watchEndsIfTheGatewayStopsDuringTheCheckOfItsSession() async throws {
        let world = try await TestAccounts(migrations: Identity.migrations + CompanionsApp.migrations)
        let app = try await RunningCompanions(world)
        let userID = try await member(of: app, in: world)
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
