import Basics
import Capability
import Database
import GatewayTesting
import Proto
import TestSupport
import Testing

@testable import Accounts

/// The sentences of audit lines.
@Suite(.timeLimited) struct AuditWordsTests {
    /// A capability whose targets are named by the table of users.
    private enum Things: Capability {
        static let auditSentences = [
            AuditSentence(.change, "PaintThings", "painted {targets}"),
            AuditSentence(.change, "PaintThing", "painted {target}", several: "painted {count} things"),
        ]
        static let targetKinds = [
            TargetKind(
                "things", ("thing", "things"), from: "users", by: .number("id"))
        ]
    }

    /// Returns the sentence of a line of the organization `system`.
    private func words(
        _ actor: String, _ action: String, _ target: String, result: String = "OK",
        change: (inout AuditRecord) -> Void = { _ in }
    ) async throws -> [AuditText] {
        let world = try await TestAccounts()
        let entry = AuditEntry(
            actor: actor, organization: OrganizationReference(id: 1, name: "system"), action: action, target: target,
            peer: "", result: result)
        var record = AuditRecord(id: 1, at: world.clock.now(), entry: entry)
        change(&record)
        let vocabulary = AuditVocabulary([AccountManagement.self, Things.self])
        return try world.database.readBlocking { [record] connection in
            try AuditWords(for: [record], vocabulary, organizationID: 1, in: connection).sentence(of: record)
        }
    }

    private func text(_ parts: [AuditText]) -> String { parts.map(\.text).joined() }

    @Test func sentenceHasNamesAndLinks() async throws {
        let parts = try await words("user:system/admin", "UpdateUser", "users/1")
        #expect(
            parts == [
                AuditText(text: "admin", resource: "users/admin"), AuditText(text: " "),
                AuditText(text: "changed the user "), AuditText(text: "admin", resource: "users/admin"),
            ])
    }

    @Test func deletedTargetsHaveTheirIDs() async throws {
        let parts = try await words("device:260427-000001", "UpdateUser", "users/99")
        #expect(text(parts) == "260427-000001 changed the user 99")
        #expect(parts.last?.resource == "")
    }

    @Test func severalTargetsAreCounted() async throws {
        let parts = try await words("user:acme/anna", "PaintThings", "things") {
            $0.entry.ids = ["1", "2"]
            $0.entry.count = 2
        }
        #expect(text(parts) == "anna of acme painted 2 things")
        #expect(parts.last == AuditText(text: "2 things", resource: "targets"))
        #expect(try await text(words("gateway", "PaintThings", "things/1")) == "The gateway painted the thing admin")
        let folded = try await words("site:4", "PaintThing", "things/1") {
            $0.entry.count = 7
            $0.lines = 7
        }
        #expect(text(folded) == "A program at the site 4 painted 7 things")
        #expect(folded.contains(AuditText(text: "7", resource: "lines")))
    }

    @Test func refusalsSayWhatWasTried() async throws {
        let refused = try await words("nobody", "Login", "", result: "UNAUTHENTICATED") { $0.entry.count = 5 }
        #expect(text(refused) == "An unknown caller tried to login, and was refused (5 times)")
        let failed = try await words("gateway", "PaintThing", "things/1", result: "FAILED")
        #expect(text(failed) == "The gateway painted admin, which failed")
    }

    @Test func unknownActionsAreNamed() async throws {
        let parts = try await words("user:system/admin#t1", "TurnTable", "tables/4")
        #expect(text(parts) == "admin by the API token t1 did turn table: 4")
    }
}
