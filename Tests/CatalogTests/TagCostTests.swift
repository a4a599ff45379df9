import Database
import DatabaseTesting
import GatewayProto
import GatewayTesting
import TestSupport
import Testing

@testable import Catalog

@Suite(.timeLimited) struct TagCostTests {
    /// Returns the pages of all tables that tags take, and the cost that was recorded, in bytes.
    private func measure(length: Int) throws -> (taken: Int64, recorded: Int64) {
        let scene = try CatalogScene()
        func pages() throws -> Int64 {
            try scene.database.readBlocking { try $0.first("PRAGMA page_count") { $0.int64(0) } ?? 0 }
        }
        let before = try pages()
        var generator = SeededGenerator(seed: 1)
        for size: Int64 in 1...20 {
            let tags = (0..<100).map { number in ("key-\(number)", Self.text(length, &generator)) }
            try scene.add(size: size, tags: Dictionary(uniqueKeysWithValues: tags))
        }
        let recorded = try scene.database.readBlocking {
            try $0.first("SELECT sum(tag_cost) AS cost FROM objects") { $0.int64("cost") } ?? 0
        }
        return ((try pages() - before) * 4096, recorded)
    }

    private static func text(_ length: Int, _ generator: inout SeededGenerator) -> String {
        var text = ""
        while text.utf8.count < length { text += String(generator.next(), radix: 36) }
        return String(text.prefix(length))
    }

    /// With values that occur once, which take most. The cost is that in a file of SQLite.
    @Test(.onSQLite, arguments: [20, 256, 257, 950, 1100, 2048]) func recordedCostIsAboutWhatTagsTake(_ length: Int)
        throws
    {
        let (taken, recorded) = try measure(length: length)
        #expect((0.75...2).contains(Double(recorded) / Double(taken)), "\(recorded) recorded, \(taken) taken")
    }

    @Test func longValuesHaveNoFacet() async throws {
        let scene = try CatalogScene()
        let (short, long) = (String(repeating: "a", count: 256), String(repeating: "b", count: 257))
        try scene.add(size: 1, tags: ["short": short, "long": long, "mixed": short])
        let mixed = try scene.add(size: 2, tags: ["mixed": long])
        for filter in ["", "size>0"] {
            let facets = try await scene.facets(filter).facets
            let tags = facets.filter { $0.name.hasPrefix("raw_tags.") }
            #expect(tags.map(\.name) == ["raw_tags.mixed", "raw_tags.short"])
            #expect(tags.allSatisfy { $0.values.map(\.value) == [short] && $0.values[0].objects == 1 })
        }
        #expect(try await scene.sizes("raw_tags.long=\(long)") == [1])
        try await scene.database.write { try SearchRecords($0).remove(objectID: mixed.id) }
        #expect(try await scene.facets("").facets.count { $0.name.hasPrefix("raw_tags.") } == 2)
    }

    /// The size of the recorded cost follows a change of the tags.
    @Test func changedTagsHaveAnotherCost() async throws {
        let scene = try CatalogScene()
        let object = try scene.add(size: 1, tags: ["a": "b"])
        try await scene.database.write { connection in
            let records = ObjectRecords(connection)
            let (position, object) = try #require(try records.placedObject(id: object.fileID, scope: 1))
            try records.setTags(["a": String(repeating: "x", count: 2000)], of: object, at: position)
        }
        let cost = try scene.database.readBlocking {
            try $0.first("SELECT tag_cost FROM objects") { $0.int64("tag_cost") }
        }
        #expect(cost == 10_000)
    }
}
