import Basics
import Database
import GatewayAPI
import Proto
import RPC
import TestSupport
import Testing

@testable import Catalog

/// Filters that a version stored in which a word stood for a beginning.
@Suite(.timeLimited) struct StoredFilterTests {
    let scene: CatalogScene

    init() throws {
        scene = try CatalogScene()
    }

    private func store(rules: [(filter: String, days: Int64)] = [], operations: [(id: String, filter: String)] = [])
        throws
    {
        try scene.database.writeBlocking { connection in
            for (number, rule) in rules.enumerated() {
                try connection.execute(
                    "INSERT INTO retention_rules (organization_id, number, filter, days) VALUES (1, $1, $2, $3)",
                    number,
                    rule.filter, rule.days)
            }
            for operation in operations {
                try connection.execute(
                    """
                    INSERT INTO object_operations (id, organization_id, filter, reason, actor, state, first_position,
                        next_position, objects, bytes, created_at, finished_at)
                    VALUES ($1, 1, $2, '', 'user:organization-1/boss', 1, 1000, 1000, 0, 0, $3, $4)
                    """, operation.id, operation.filter, scene.clock.now().microseconds,
                    operation.id.hasPrefix("ended") ? 1 : nil)
            }
            try StoredFilters.rewrite(in: connection)
        }
    }

    private func texts(_ sql: String) throws -> [String] {
        try scene.database.readBlocking { try $0.query(sql) { $0.text(0) } }
    }

    /// Adds objects whose sizes tell whether the name, the device or a tag begins with "test": 1 to 3 do, 11 to 13 do not.
    private func fill() throws {
        try scene.add(size: 1, device: "TEST-1")
        try scene.add(size: 2, tags: ["kind": "testing"])
        try scene.add(size: 3, tags: [FileName.tagKey: "Test drive.mcap"])
        try scene.add(size: 11, device: "a-test")
        try scene.add(size: 12, tags: ["kind": "a test", "test": "1"])
        try scene.add(size: 13, tags: [FileName.tagKey: "latest_test.mcap"])
    }

    @Test func rulesHitTheSameObjects() async throws {
        try fill()
        try store(rules: [("keep=yes", 0), ("test", 7)])
        #expect(try texts("SELECT filter FROM retention_rules ORDER BY number") == ["keep=yes", "begins:test"])
        scene.clock.advance(seconds: 8 * 86_400)
        #expect(try await scene.removal.applyRetention(scene.permit) == 3)
        #expect(try await scene.sizes() == [13, 12, 11])
    }

    @Test func deletionUnderWayHitsTheSameObjects() async throws {
        try fill()
        try store(operations: [("running", "TEST OR nothing*"), ("ended", "test")])
        #expect(
            try texts("SELECT filter FROM object_operations ORDER BY id") == ["test", "begins:TEST OR begins:nothing*"])
        try await scene.bulkOperations.runner.step("running")
        #expect(try await scene.sizes() == [13, 12, 11])
    }

    @Test func wordsAreRefusedWhereverAFilterChangesObjects() async throws {
        let management = scene.management
        func refusal(_ call: () async throws -> Void) async throws -> String {
            let error = try #require(await #expect(throws: RPCError.self) { try await call() })
            #expect(error.detail == .invalidArgument)
            return error.message
        }
        let expected =
            "byte 7: expected begins:test (the beginning of the name, the device or the value of a tag) or name:*test*"
        for isDryRun in [true, false] {
            let deletion = try await refusal {
                _ = try await management.deleteObjects(
                    DeleteObjectsRequest(filter: "size>0 test", dryRun: isDryRun),
                    context: scene.context(ObjectManagementServiceMethods.deleteObjects))
            }
            #expect(deletion.hasPrefix("filter: \(expected)"))
            let purge = try await refusal {
                _ = try await management.purgeObjects(
                    PurgeObjectsRequest(filter: "size>0 test", dryRun: isDryRun),
                    context: scene.context(ObjectManagementServiceMethods.purgeObjects))
            }
            #expect(purge.hasPrefix("filter: \(expected)"))
            let restoration = try await refusal {
                _ = try await management.restoreObjects(
                    RestoreObjectsRequest(filter: "size>0 test", dryRun: isDryRun),
                    context: scene.context(ObjectManagementServiceMethods.restoreObjects))
            }
            #expect(restoration.hasPrefix("filter: \(expected)"))
            let rule = try await refusal {
                _ = try await management.setRetention(
                    SetRetentionRequest(
                        days: 0, dryRun: isDryRun, rules: [RetentionRule(filter: "size>0 test", days: 0)],
                        replaceRules: true),
                    context: scene.context(ObjectManagementServiceMethods.setRetention))
            }
            #expect(rule.hasPrefix("rules[0].filter: \(expected)"))
        }
    }
}
