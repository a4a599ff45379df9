import Accounts
import Basics
import Database
import GatewayAPI
import GatewayTesting
import ObjectFilters
import Proto
import RPC
import TestSupport
import Testing

@testable import Catalog

@Suite(.timeLimited) struct SearchTests {
    /// Makes objects 1 to 60, an hour apart, by ten devices in two organizations.
    private static func scene(visits: Int = 2000) throws -> CatalogScene {
        let scene = try CatalogScene(visits: visits)
        for size: Int64 in 1...60 {
            scene.clock.advance(seconds: 3600)
            try scene.add(
                size: size, organization: size % 7 == 0 ? 2 : 1, site: 1 + size % 2, device: "260101-00000\(size % 10)",
                tags: ["run": "Run-\(size % 5)", "weather": size % 3 == 0 ? "Rain" : "sun"])
        }
        return scene
    }

    private static func expected(_ isMatch: (Int64) -> Bool) -> [Int64] {
        (Int64(1)...60).reversed().filter { $0 % 7 != 0 && isMatch($0) }
    }

    @Test(arguments: [1, 3, 10, 2000])
    func expressionsFindWhatMatches(_ visits: Int) async throws {
        let scene = try Self.scene(visits: visits)
        let filters: [(String, (Int64) -> Bool)] = [
            ("rain", { $0 % 3 == 0 }), ("RUN-3*", { $0 % 5 == 3 }), ("run-", { _ in true }), ("un-3", { _ in false }),
            ("260101-000004", { $0 % 10 == 4 }), ("device:260101-*", { _ in true }),
            ("device:260101-000004* rain", { $0 % 10 == 4 && $0 % 3 == 0 }),
            ("weather=Rain run=Run-2", { $0 % 3 == 0 && $0 % 5 == 2 }), ("weather=rain", { _ in false }),
            ("weather=Rain OR run=Run-2", { $0 % 3 == 0 || $0 % 5 == 2 }),
            ("NOT weather=Rain site=1", { $0 % 3 != 0 && $0 % 2 == 0 }),
            ("NOT (weather=Rain OR site=1)", { $0 % 3 != 0 && $0 % 2 == 1 }),
            ("NOT (weather=Rain site=1)", { !($0 % 3 == 0 && $0 % 2 == 0) }),
            ("(rain OR site=2) (size>20 OR run=Run-1)", { ($0 % 3 == 0 || $0 % 2 == 1) && ($0 > 20 || $0 % 5 == 1) }),
            ("created>=2026-01-02", { $0 >= 24 }),
            ("created=2026-01-02 rain", { (24..<48).contains($0) && $0 % 3 == 0 }),
            ("created<2026-01-01T05:00:00Z OR created>2026-01-02", { $0 < 5 || $0 >= 48 }),
            ("NOT created<2026-01-02 size<30", { (24..<30).contains($0) }),
            ("created>2027-01-01", { _ in false }), ("created<1969-01-01", { _ in false }),
            ("age<3h", { $0 > 57 }), ("age>=48h age<50h", { $0 == 12 || $0 == 11 }),
            ("content_type:video/*", { _ in false }),
            ("NOT status:verified", { _ in false }),
        ]
        for (filter, isMatch) in filters {
            let expected = Self.expected(isMatch)
            for size: Int32 in [1, 7, 1000] {
                #expect(try await scene.walk(filter, size: size) == expected, "\(filter), pages of \(size)")
            }
        }
    }

    @Test func everyOrganizationIsSearchedForSystem() async throws {
        let scene = try Self.scene()
        let system = scene.user(1, isSystem: true)
        #expect(
            try await scene.sizes("rain", size: 1000, as: system) == stride(from: 60, through: 1, by: -3).map { $0 })
        #expect(try await scene.sizes("created=2026-01-02 run-1", as: system) == [46, 41, 36, 31, 26])
        #expect(try await scene.sizes("rain", as: scene.user(2)) == [42, 21])
        #expect(try await scene.sizes("weather=Rain", as: scene.user(2)) == [42, 21])
    }

    /// The device is "Picker 041", and site 7 is "Brémen West".
    @Test(arguments: [
        ("picker", [3, 2]), ("\"Picker 041\"", [3, 2]), ("41", []), ("041", [3, 2]), ("BRÉMEN", [4, 3]),
        ("west picker", [3]),
        ("wes OR picker", [4, 3, 2]), ("NOT picker", [5, 4, 1]), ("begins:picker", []), ("device:*icker*", []),
        ("picker size>2", [3]), ("rém", [4, 3]), ("re", []), ("w", [4, 3]),
    ])
    func wordsFindDisplayNames(_ filter: String, _ expected: [Int64]) async throws {
        let scene = try CatalogScene()
        try scene.add(size: 1, device: "d", tags: ["k": "v"])
        try scene.add(size: 2, device: OneDevice.id)
        try scene.add(size: 3, site: 7, device: OneDevice.id)
        try scene.add(size: 4, site: 7)
        try scene.add(size: 5)
        try scene.add(size: 6, organization: 2)
        #expect(try await scene.walk(filter, size: 1) == expected)
        #expect(try await scene.facets(filter).count == expected.count)
        #expect(try await scene.sorted(filter, "size desc", size: 10).map(\.sizeBytes) == expected)
        let system = scene.user(1, isSystem: true)
        #expect(try await scene.sizes(filter, as: system).filter { $0 < 6 } == expected)
    }

    /// The keys of the order, without objects that the filter excludes.
    @Test(
        arguments: ["", "rain", "size>30 OR NOT rain", "site=1"], ["created", "size desc", "name", "name desc", "size"])
    func sortedPagesNeitherRepeatNorSkip(_ filter: String, _ order: String) async throws {
        let scene = try CatalogScene()
        for number: Int64 in 0..<40 {
            scene.clock.advance(seconds: number % 3 == 0 ? -7200 : 3600)
            let object = try scene.add(
                size: number % 5, site: 1 + number % 2, tags: number % 4 == 0 ? ["weather": "rain"] : [:])
            let name = ["B.mcap", "a.mcap", "É 1", "a.MCAP", "z"][Int(number) % 5]
            _ = try scene.database.writeBlocking { connection in
                try connection.execute("UPDATE objects SET name = $2 WHERE id = $1", object.id, name)
            }
        }
        let all = try await scene.sorted(filter, "", size: 1000)
        let isDescending = order.hasSuffix("desc")
        // Positions ascend in the opposite order of the list.
        let expected = all.reversed().enumerated().sorted { left, right in
            let (one, other) = (Self.key(left.element, order), Self.key(right.element, order))
            if one != other { return one.lexicographicallyPrecedes(other) != isDescending }
            return (left.offset < right.offset) != isDescending
        }.map(\.element.objectID)
        for size: Int32 in [1, 7, 1000] {
            let seen = try await scene.sorted(filter, order, size: size) {
                try scene.add(size: 100, organization: 2)
            }
            #expect(seen.map(\.objectID) == expected, "pages of \(size)")
        }
        let system = try await scene.sorted(filter, order, size: 7, as: scene.user(1, isSystem: true))
        #expect(system.filter { $0.sizeBytes < 100 }.map(\.objectID) == expected)
    }

    private static func key(_ object: DataObject, _ order: String) -> [UInt8] {
        switch order.prefix(4) {
        case "name": Array(OrderValue.lowercased(object.name).utf8)
        case "size": Array(String(object.sizeBytes).utf8)
        default: Array(String(object.createdAtUnix).utf8)
        }
    }

    @Test func unknownOrdersAreRefused() async throws {
        let scene = try CatalogScene()
        for order in ["color", "size asc", "desc", "size desc ", " size"] {
            await #expect(throws: RPCError.self, "\(order)") { try await scene.sorted("", order, size: 1) }
        }
    }

    @Test func agesCountFromTheFirstPage() async throws {
        let scene = try Self.scene()
        let seen = try await scene.walk("age<10h", size: 2) { scene.clock.advance(seconds: 1800) }
        #expect(seen == [60, 59, 58, 57, 55, 54, 53, 52, 51])
    }

    @Test func aDeletedObjectLeavesNoRows() async throws {
        let scene = try CatalogScene()
        let object = try scene.add(bytes: [1, 2, 3])
        #expect(try scene.rows("object_prefixes") > 0 && scene.rows("object_facets") > 0)
        _ = try await scene.management.deleteObject(
            DeleteObjectRequest(fileID: object.fileID),
            context: CallContext(
                method: ObjectManagementServiceMethods.deleteObject, identity: Principal.user(scene.user())))
        for table in ["object_prefixes", "object_facets"] { #expect(try scene.rows(table) == 0, "\(table)") }
    }

    @Test func removingAnObjectKeepsTheOthersRows() async throws {
        let scene = try CatalogScene()
        let first = try scene.add(size: 1, device: "d", tags: ["k": "v", "l": "w"])
        let before = try scene.dump()
        let second = try scene.add(size: 2, device: "d", tags: ["k": "v", "m": "V"])
        try scene.database.writeBlocking { try SearchRecords($0).remove(objectID: second.id) }
        #expect(try scene.dump() == before)
        try scene.database.writeBlocking { connection in
            try SearchRecords(connection).remove(objectID: first.id)
            try SearchRecords(connection).enter(objectID: first.id)
        }
        #expect(try scene.dump() == before)
    }

    @Test func objectsOfEarlierVersionsAreFoundWhileTheyAreEntered() async throws {
        let scene = try Self.scene()
        let complete = try scene.dump()
        try scene.database.writeBlocking { connection in
            for table in ["object_prefixes", "object_facets"] { try connection.execute("DELETE FROM \(table)") }
            try connection.execute("INSERT INTO search_upgrade (id, position) SELECT 1, max(position) + 1 FROM objects")
        }
        let expected = Self.expected { $0 % 3 == 0 }
        var entered = 0
        repeat {
            #expect(try await scene.walk("rain", size: 7) == expected)
            let facets = try await scene.facets("")
            #expect(facets.count == 52)
            entered = try scene.database.writeBlocking { try SearchRecords($0).enterNext(16) }
        } while entered > 0
        #expect(try await scene.walk("rain", size: 7) == expected)
        #expect(try scene.dump() == complete)
    }

    @Test func upgradeEntersAllAndEnds() async throws {
        let scene = try Self.scene()
        let complete = try scene.dump()
        try scene.database.writeBlocking { connection in
            for table in ["object_prefixes", "object_facets"] { try connection.execute("DELETE FROM \(table)") }
            try connection.execute("INSERT INTO search_upgrade (id, position) SELECT 1, max(position) + 1 FROM objects")
        }
        let pacing = UpgradePacing(log: .discarding, sleep: { _ in })
        let upgrade = SearchUpgrade(database: scene.database, pacing: pacing)
        _ = try await scene.database.write { try $0.execute("UPDATE objects SET tag_texts = NULL") }
        await upgrade.run()
        #expect(try scene.dump() == complete && upgrade.progress.remaining == 0)
        #expect(try scene.rows("objects WHERE tag_texts IS NULL") == 0)
        #expect(try scene.rows("search_upgrade") == 0)
    }

    @Test func batchWithTheLastObjectEndsTheUpgrade() throws {
        let scene = try Self.scene()
        try scene.database.writeBlocking { connection in
            for table in ["object_prefixes", "object_facets"] { try connection.execute("DELETE FROM \(table)") }
            try connection.execute("INSERT INTO search_upgrade (id, position) SELECT 1, max(position) + 1 FROM objects")
        }
        let count = try scene.rows("objects")
        let entered = try scene.database.writeBlocking { try SearchRecords($0).enterNext(count) }
        #expect(entered == count)
        #expect(try scene.rows("search_upgrade") == 0)
    }

    @Test(arguments: ["", "size>0", "NOT site=9"])
    func facetsCountObjects(_ filter: String) async throws {
        let scene = try Self.scene()
        let found = try await scene.facets(filter)
        #expect(found.count == 52 && found.isExact)
        #expect(found.facets.map(\.name) == ["device", "site", "recorded", "raw_tags.run", "raw_tags.weather"])
        let values = found.facets.map { Dictionary(uniqueKeysWithValues: $0.values.map { ($0.value, $0.objects) }) }
        for digit: Int64 in 0..<10 {
            let objects = Self.expected { $0 % 10 == digit }.count
            #expect(values[0]["260101-00000\(digit)"] == Int64(objects))
        }
        #expect(
            values[1] == [
                "1": Int64(Self.expected { $0 % 2 == 0 }.count), "2": Int64(Self.expected { $0 % 2 == 1 }.count),
            ])
        #expect(found.facets[2].values.map(\.value) == ["2026-01-03", "2026-01-02", "2026-01-01"])
        #expect(values[4]["Rain"] == Int64(Self.expected { $0 % 3 == 0 }.count))
        #expect(found.facets[0].values.map(\.objects) == found.facets[0].values.map(\.objects).sorted(by: >))
    }

    @Test func facetsCountTagsOfEarlierVersions() async throws {
        let scene = try Self.scene()
        let before = try await scene.facets("size>0")
        for rows in ["position % 2 = 0", "true"] {
            _ = try await scene.database.write {
                try $0.execute("UPDATE objects SET tag_texts = NULL WHERE \(rows)")
            }
            #expect(try await scene.facets("size>0") == before)
        }
    }

    @Test func facetsOfAFilterCountWhatMatches() async throws {
        let scene = try Self.scene()
        let found = try await scene.facets("rain created=2026-01-02")
        let expected = Self.expected { (24..<48).contains($0) && $0 % 3 == 0 }
        #expect(found.count == Int64(expected.count) && found.isExact)
        #expect(found.facets.last?.values.map(\.value) == ["Rain"])
        let system = try await scene.facets("", as: scene.user(1, isSystem: true))
        #expect(system.count == 60)
        #expect(system.facets.last?.values.map(\.objects) == [40, 20])
        await #expect(throws: RPCError.self) { try await scene.facets("size>x") }
    }

    /// Each prefix that a search may ask for is stored.
    @Test(arguments: ["a", "ab", "run07_camera_front.mcap", String(repeating: "x", count: 70), "名前のファイル", ""])
    func everyBeginningIsStored(_ word: String) {
        let stored = Set(SearchPrefix.stored(of: word))
        #expect(stored.allSatisfy { word.hasPrefix($0) } && stored.count <= 11)
        for count in 1..<max(2, word.unicodeScalars.count + 1) where !word.isEmpty {
            let prefix = String(String.UnicodeScalarView(word.unicodeScalars.prefix(count)))
            #expect(stored.contains(SearchPrefix.stored(forPrefix: prefix)))
        }
        #expect(word.isEmpty || SearchPrefix.stored(for: .text(word)).map(stored.contains) == true)
        #expect(SearchPrefix.stored(for: .part(word)) == nil)
    }

    @Test func prefixesOfContentTypes() {
        #expect(SearchPrefix.stored(ofContentType: "video/mp4") == ["video/", "video/mp4"])
        #expect(SearchPrefix.stored(ofContentType: "").isEmpty)
        #expect(SearchPrefix.stored(forContentType: .prefix("video/m")) == "video/")
        #expect(SearchPrefix.stored(forContentType: .prefix("vid")) == nil)
        #expect(SearchPrefix.stored(forContentType: .text("video/mp4")) == "video/mp4")
    }
}

extension CatalogScene {
    fileprivate func rows(_ table: String) throws -> Int {
        try database.readBlocking { connection in
            try connection.first("SELECT count(*) FROM \(table)") { $0.int(0) } ?? 0
        }
    }

    /// Returns all rows of the search tables.
    fileprivate func dump() throws -> [String] {
        try database.readBlocking { connection in
            try connection.query(
                """
                SELECT organization_id || ' ' || kind || ' ' || prefix || ' ' || position FROM object_prefixes UNION ALL
                SELECT organization_id || ' ' || kind || ' ' || key || ' ' || value || ' ' || objects || ' ' || bytes
                FROM object_facets
                """
            ) { $0.text(0) }.sorted()
        }
    }

    fileprivate func sorted(
        _ filter: String, _ order: String, size: Int32, as user: UserPrincipal? = nil,
        between: () throws -> Void = {}
    ) async throws -> [DataObject] {
        var (objects, token): ([DataObject], String) = ([], "")
        repeat {
            let page = try await service.listObjects(
                ListObjectsRequest(pageSize: size, pageToken: token, filter: filter, orderBy: order),
                context: CallContext(
                    method: DataGatewayObjectServiceMethods.listObjects, identity: Principal.user(user ?? self.user())))
            objects += page.objects
            token = page.nextPageToken
            try between()
        } while !token.isEmpty
        return objects
    }

    func facets(
        _ filter: String, as user: UserPrincipal? = nil
    ) async throws -> GetObjectFacetsResponse {
        try await management.getObjectFacets(
            GetObjectFacetsRequest(filter: filter),
            context: CallContext(
                method: ObjectManagementServiceMethods.getObjectFacets, identity: Principal.user(user ?? self.user())))
    }
}
