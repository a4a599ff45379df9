import Basics
import Database
import GatewayAPI
import Proto
import RPC
import TestSupport
import Testing

@testable import Catalog

@Suite(.timeLimited) struct RetentionRuleTests {
    private static let day: Int64 = 86_400
    let scene: CatalogScene

    init() throws {
        scene = try CatalogScene()
    }

    private func set(
        _ days: Int32, _ rules: [(String, Int32)]? = nil, dryRun: Bool = false
    ) async throws -> SetRetentionResponse {
        try await scene.management.setRetention(
            SetRetentionRequest(
                days: days, dryRun: dryRun,
                rules: (rules ?? []).map { RetentionRule(filter: $0.0, days: $0.1) }, replaceRules: rules != nil),
            context: scene.context(ObjectManagementServiceMethods.setRetention))
    }

    private func sweep() async throws -> Int { try await scene.removal.applyRetention(scene.permit) }

    /// Adds objects of sizes 1 to 60, one each minute, by two devices and two sites, some with tags.
    private func fill() throws {
        for size: Int64 in 1...60 {
            let tags = size % 5 == 0 ? ["kind": "test"] : size % 7 == 0 ? ["keep": "yes"] : [:]
            try scene.add(size: size, site: 1 + size % 2, device: "260101-00000\(size % 3)", tags: tags)
            scene.clock.advance(seconds: 60)
        }
    }

    @Test func firstMatchingRuleDecides() async throws {
        try fill()
        let rules: [(String, Int32)] = [
            ("keep=yes", 0), ("kind=test", 7), ("device=260101-000001", 14), ("site=2", 40),
        ]
        let end: [Int64: Int32] = Dictionary(
            uniqueKeysWithValues: (Int64(1)...60).map { size in
                let days: Int32 =
                    size % 5 == 0 ? 7 : size % 7 == 0 ? 0 : size % 3 == 1 ? 14 : size % 2 == 1 ? 40 : 30
                return (size, days)
            })
        _ = try await set(30, rules)
        let start = scene.clock.now().seconds
        var removed: Set<Int64> = []
        for day: Int32 in [5, 8, 15, 31, 41, 400] {
            scene.clock.advance(seconds: start + Int64(day) * Self.day - scene.clock.now().seconds)
            let expected = Set(end.filter { $0.value > 0 && $0.value < day }.keys)
            let dry = try await set(30, dryRun: true)
            #expect(dry.affectedObjects == Int64(expected.subtracting(removed).count), "day \(day)")
            #expect(dry.affectedBytes == expected.subtracting(removed).reduce(0, +))
            #expect(dry.rules.map(\.days) == [0, 7, 14, 40])
            #expect(try await sweep() == expected.subtracting(removed).count, "day \(day)")
            #expect(try await sweep() == 0)
            removed = expected
            #expect(try await Set(scene.sizes(size: 1000)) == Set(end.keys).subtracting(removed), "day \(day)")
        }
    }

    /// The first ones in the order of their age, which is why the limit counts, with rules and without.
    @Test(arguments: [nil, [("size>0", 1)]] as [[(String, Int32)]?])
    func dryRunNamesTheOldestObjects(_ rules: [(String, Int32)]?) async throws {
        try fill()
        scene.clock.advance(seconds: 2 * Self.day)
        let dry = try await set(rules == nil ? 1 : 0, rules, dryRun: true)
        #expect(dry.examples.map(\.sizeBytes) == Array(1...10))
        #expect((dry.affectedObjects, dry.affectedBytes) == (60, 60 * 61 / 2))
        let objects = try await scene.list(size: 1000).objects
        let first = try #require(objects.first { $0.sizeBytes == 1 })
        #expect(dry.examples[0].fileID == first.fileID && dry.examples[0].name == first.name)
        #expect(dry.examples[0].deviceID == "260101-000001" && dry.examples[0].siteID == 2)
        // A restored object counts from then on.
        _ = try await scene.removal.delete(first.fileID, reason: "", by: scene.caller())
        _ = try await scene.removal.restore(first.fileID, by: scene.caller())
        #expect(try await set(rules == nil ? 1 : 0, rules, dryRun: true).examples.map(\.sizeBytes) == Array(2...11))
        #expect(try await set(rules == nil ? 1 : 0, rules).examples.isEmpty)
        #expect(try await set(0, [], dryRun: true).examples.isEmpty)
    }

    @Test func rulesStayUnlessTheyAreReplaced() async throws {
        _ = try await set(30, [("kind=test", 7)])
        #expect(try await set(60).rules == [RetentionRule(filter: "kind=test", days: 7)])
        let shown = try await scene.management.getRetention(
            GetRetentionRequest(), context: scene.context(ObjectManagementServiceMethods.getRetention))
        #expect(shown == GetRetentionResponse(days: 60, rules: [RetentionRule(filter: "kind=test", days: 7)]))
        #expect(try await set(0, []).rules.isEmpty)
        #expect(
            try scene.audit().map { $0.split(separator: " ")[3] } == [
                "retention/30+1", "retention/60", "retention/0+0",
            ])
    }

    @Test func rulesAloneRemoveOnlyWhatMatches() async throws {
        try fill()
        _ = try await set(0, [("kind=test", 1)])
        scene.clock.advance(seconds: 4 * Self.day)
        #expect(try await sweep() == 12)
        #expect(try await scene.sizes(size: 1000).count == 48)
    }

    @Test func corruptedObjectKeepsItsRule() async throws {
        let kept = try scene.add(size: 1, tags: ["keep": "yes"])
        try scene.add(size: 2)
        try scene.database.writeBlocking { [clock = scene.clock] in
            _ = try ScrubRecords($0).mark(kept, isBad: true, at: clock.now())
        }
        _ = try await set(1, [("keep=yes", 0)])
        scene.clock.advance(seconds: 4 * Self.day)
        #expect(try await sweep() == 1)
        #expect(try await scene.sizes("trashed=true") == [2])
    }

    @Test func changedRulesAreAppliedFromTheBeginning() async throws {
        try fill()
        _ = try await set(1, [("size>0", 0)])
        scene.clock.advance(seconds: 4 * Self.day)
        #expect(try await sweep() == 0)
        _ = try await set(1, [("size>10", 0)])
        #expect(try await sweep() == 10)
    }

    @Test func malformedRulesAreRefused() async throws {
        for rules: [(String, Int32)] in [
            [("", 1)], [("size>x", 1)], [("age>1d", 1)], [("NOT trashed=true", 1)], [("kind=test", -1)],
            [("kind=test", 36_501)], Array(repeating: ("kind=test", 1), count: 21),
        ] {
            let error = await #expect(throws: RPCError.self) { try await set(1, rules) }
            #expect(error?.detail == .invalidArgument && error?.message.contains("rules") == true)
        }
        let context = scene.context(ObjectManagementServiceMethods.setRetention)
        let error = await #expect(throws: RPCError.self) {
            try await scene.management.setRetention(
                SetRetentionRequest(days: 1, rules: [RetentionRule(filter: "kind=test", days: 1)]), context: context)
        }
        #expect(error?.message.contains("replace_rules") == true)
    }
}
