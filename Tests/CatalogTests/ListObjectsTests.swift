import Accounts
import Basics
import Crypto
import Database
import DatabaseTesting
import GatewayAPI
import GatewayTesting
import ObjectFilters
import Proto
import RPC
import TestSupport
import Testing

@testable import Catalog

@Suite(.timeLimited) struct ListObjectsTests {
    @Test func listedObjectHasEveryField() async throws {
        let scene = try CatalogScene()
        let object = try scene.add(size: 10)
        let found = try #require(try await scene.list().objects.first)
        #expect(found.objectID == object.id && found.fileID == object.fileID)
        #expect(found.status == .verified && found.sizeBytes == 10 && found.etag == "\"10\"")
        #expect(found.createdAtUnix == object.times.createdAt.seconds)
        #expect(found.uploadedAtUnix == found.createdAtUnix + 1 && found.verifiedAtUnix == found.createdAtUnix + 2)
    }

    @Test func topicsAndDeviceNamesAreReturnedOnRequest() async throws {
        let scene = try CatalogScene()
        let object = try scene.add(size: 1, device: OneDevice.id)
        try scene.addTopics(120, to: object)
        try scene.add(size: 2, device: "260427-000002")
        // A device of another organization that once had the same id.
        try scene.add(size: 3, organization: 2, device: OneDevice.id)
        let context = CallContext(
            method: DataGatewayObjectServiceMethods.listObjects,
            identity: Principal.user(scene.user(isSystem: true)))
        for order in ["", "size desc"] {
            let plain = try await scene.service.listObjects(ListObjectsRequest(orderBy: order), context: context)
            #expect(plain.objects.allSatisfy { $0.topics.isEmpty && $0.deviceName.isEmpty })
            let found = try await scene.service.listObjects(
                ListObjectsRequest(orderBy: order, withTopics: true, withDeviceNames: true), context: context)
            #expect(found.objects.map(\.sizeBytes) == [3, 2, 1])
            #expect(found.objects.map(\.deviceName) == ["", "", "Picker 041"])
            #expect(found.objects.map(\.topics) == [[], [], (1000..<1100).map { "/topic-\($0)" }])
        }
    }

    @Test func newestFirstWhateverTheClockDoes() async throws {
        let scene = try CatalogScene()
        for size: Int64 in 1...7 {
            try scene.add(size: size)
            scene.clock.advance(seconds: -10)
        }
        for pageSize: Int32 in [1, 2, 3, 7, 8] {
            #expect(try await scene.walk("", size: pageSize) == [7, 6, 5, 4, 3, 2, 1])
        }
        #expect(try await scene.list(size: 7).nextPageToken.isEmpty)
    }

    @Test func pagesHaveTheirDefaultAndMaximumSize() async throws {
        let scene = try CatalogScene()
        try scene.database.writeBlocking { [scene] connection in
            for size: Int64 in 1...1001 {
                try connection.execute(
                    """
                    INSERT INTO objects (id, file_id, upload_id, organization_id, site_id, bucket, object_key, size, etag,
                        created_at, uploaded_at, verified_at)
                    VALUES ($1, $1, $1, 1, 1, '', '', $2, '', 0, 0, 0)
                    """, scene.identifiers.uuid(), size)
            }
        }
        #expect(try await scene.sizes().count == 50)
        #expect(try await scene.sizes(size: 1000).count == 1000)
        #expect(try await scene.sizes(size: .max).count == 1000)
        await #expect(throws: RPCError.invalidArgument("page_size must be at least 0")) {
            try await scene.list(size: -1)
        }
    }

    @Test func everyoneSeesTheirOwnAndSystemAll() async throws {
        let scene = try CatalogScene()
        try scene.add(size: 1, organization: 1, tags: ["k": "v"])
        try scene.add(size: 2, organization: 2, tags: ["k": "v"])
        for filter in ["", "raw_tags.k=v", "size>0"] {
            #expect(try await scene.sizes(filter, as: scene.user(1)) == [1])
            #expect(try await scene.sizes(filter, as: scene.user(2)) == [2])
            #expect(try await scene.sizes(filter, as: scene.user(1, isSystem: true)) == [2, 1])
        }
        var acting = scene.user(1, isSystem: true)
        acting.organization = OrganizationReference(id: 2, name: "organization-2")
        #expect(try await scene.sizes(as: acting) == [2])
    }

    @Test(arguments: [
        ("raw_tags.side=left", [5, 3, 1]),
        ("raw_tags.side=left raw_tags.run=b", [5, 3]),
        ("raw_tags.side=middle", []),
        ("raw_tags.no_such_tag=x", []),
        ("raw_tags.empty=\"\"", [4]),
        ("device=260101-000001", [5, 4]),
        ("device=260101-000001 raw_tags.side=left", [5]),
        ("site=2", [3]),
        ("site=2 AND device=260101-000001", []),
        ("size>2 size<=4", [4, 3]),
        ("size=3", [3]),
        ("created>=2026-01-01T00:00:03Z", [5, 4, 3]),
        ("created=2026-01-01T00:00:03Z", [3]),
        ("created<2026-01-01T00:00:03+00:00 status:verified", [2, 1]),
        ("object_id=nonsense", []),
    ])
    func filtersSelectTheirObjects(_ filter: String, _ expected: [Int64]) async throws {
        let scene = try CatalogScene()
        let device = "260101-000001"
        scene.clock.advance(seconds: 1)
        try scene.add(size: 1, tags: ["side": "left", "run": "a"])
        scene.clock.advance(seconds: 1)
        try scene.add(size: 2, tags: ["side": "right", "run": "a"])
        scene.clock.advance(seconds: 1)
        try scene.add(size: 3, site: 2, tags: ["side": "left", "run": "b"])
        scene.clock.advance(seconds: 1)
        try scene.add(size: 4, device: device, tags: ["side": "right", "empty": ""])
        scene.clock.advance(seconds: 1)
        let last = try scene.add(size: 5, device: device, tags: ["side": "left", "run": "b"])
        #expect(try await scene.sizes(filter) == expected)
        #expect(try await scene.walk(filter, size: 1) == expected)
        #expect(try await scene.sizes("object_id=\(last.id)") == [5])
        #expect(try await scene.sizes("object_id=\(last.id) size<5") == [])
    }

    /// Whatever is added during a walk, the objects that existed at its start appear once, in order.
    @Test(arguments: 1...12) func walksWhileObjectsAreAdded(_ seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let scene = try CatalogScene(visits: Int.random(in: 1...8, using: &generator))
        let count = Int64.random(in: 1...25, using: &generator)
        for size in 1...count {
            scene.clock.advance(seconds: Int64.random(in: -2...2, using: &generator))
            try scene.add(size: size, tags: size % 3 == 0 ? ["k": "v"] : [:])
        }
        let (filter, expected): (String, [Int64]) =
            [
                ("", (1...count).reversed()),
                ("raw_tags.k=v", (1...count).reversed().filter { $0 % 3 == 0 }),
                ("size<=\(count / 2)", (1...count).reversed().filter { $0 <= count / 2 }),
                ("raw_tags.k=v size<=\(count / 2)", (1...count).reversed().filter { $0 % 3 == 0 && $0 <= count / 2 }),
            ].randomElement(using: &generator) ?? ("", [])
        let pageSize = Int32.random(in: 1...6, using: &generator)
        let seen = try await scene.walk(filter, size: pageSize) {
            for _ in 0..<Int.random(in: 0...2, using: &generator) {
                scene.clock.advance(seconds: Int64.random(in: -100...100, using: &generator))
                try scene.add(size: 1000 + Int64.random(in: 0...9, using: &generator), tags: ["k": "v"])
            }
        }
        #expect(seen.filter { $0 < 1000 } == expected, "\(filter), pages of \(pageSize)")
    }

    /// The same with eight concurrent writers, each in transactions of its own.
    @Test(arguments: [("", Int32(7)), ("raw_tags.k=v", 3), ("size<1000", 5)])
    func walksWhileEightWritersInsert(_ filter: String, _ pageSize: Int32) async throws {
        let scene = try CatalogScene(visits: 50)
        for size: Int64 in 1...200 { try scene.add(size: size, tags: size % 2 == 0 ? ["k": "v"] : [:]) }
        let expected = try await scene.walk(filter, size: 1000)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer: Int64 in 0..<8 {
                group.addTask {
                    for size in stride(from: 1000 + writer, to: 5000, by: 8) where !Task.isCancelled {
                        let object = scene.newObject(size: size)
                        try await scene.database.write { try ObjectRecords($0).insert(object, tags: ["k": "v"]) }
                    }
                }
            }
            for _ in 0..<10 {
                let seen = try await scene.walk(filter, size: pageSize)
                #expect(seen.filter { $0 < 1000 } == expected)
                #expect(Set(seen).count == seen.count)
            }
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    @Test func aPageOfRowsThatDoNotFitIsShortAndGoesOn() async throws {
        let scene = try CatalogScene(visits: 4)
        for size: Int64 in 1...9 { try scene.add(size: size) }
        let first = try await scene.list("size=1", size: 2)
        #expect(first.objects.isEmpty && !first.nextPageToken.isEmpty)
        #expect(try await scene.walk("size=1", size: 2) == [1])
    }

    @Test func aTokenIsBoundToItsFilterAndItsCaller() async throws {
        let scene = try CatalogScene()
        for size: Int64 in 1...3 { try scene.add(size: size, tags: ["k": "v"]) }
        let filter = "raw_tags.k=v"
        let token = try await scene.list(filter, size: 1).nextPageToken
        for _ in 0..<2 {
            #expect(try await scene.list(filter, size: 1, token: token).objects.map(\.sizeBytes) == [2])
        }
        let middle = token.index(token.startIndex, offsetBy: token.count / 2)
        let other = token[middle] == "A" ? "B" : "A"
        let tampered = token[..<middle] + other + token[token.index(after: middle)...]
        for (filter, token, user) in [
            ("status:verified", token, scene.user()), ("", token, scene.user()),
            (filter, token, scene.user(1, id: 9)), (filter, token, scene.user(1, isSystem: true)),
            (filter, String(tampered), scene.user()), (filter, String(token.dropLast(4)), scene.user()),
            (filter, token + "AAAA", scene.user()), (filter, "nonsense", scene.user()), (filter, "é", scene.user()),
        ] {
            let error = await #expect(throws: RPCError.self) {
                try await scene.list(filter, size: 1, token: token, as: user)
            }
            #expect(error?.detail == .invalidArgument)
        }
    }

    @Test func noCharacterOfATokenMayChange() async throws {
        let scene = try CatalogScene()
        for size: Int64 in 1...2 { try scene.add(size: size) }
        let token = Array(try await scene.list(size: 1).nextPageToken)
        #expect(token.count > 20)
        for index in token.indices {
            for other: Character in ["A", "B", "_"] where other != token[index] {
                var changed = token
                changed[index] = other
                await #expect(throws: RPCError.self, "\(index)") {
                    try await scene.list(size: 1, token: String(changed))
                }
            }
        }
    }

    @Test func aFilterThatIsNoneIsRefusedWithThePosition() async throws {
        let scene = try CatalogScene()
        let error = await #expect(throws: RPCError.self) { try await scene.list("status:verified OR size>x") }
        #expect(error?.detail == .invalidArgument)
        #expect(error?.message == "filter: byte 24: expected a size such as 1048576 or 1MiB, found \"x\"")
    }

    /// Every row of a page comes from an index in the order of the list: nothing is sorted, and nothing is scanned that an index
    /// could find. `scripts/sql check` looks at the plans of PostgreSQL.
    @Test(
        .onSQLite,
        arguments: [
            ("", ["objects_by_organization"]), ("raw_tags.k=v", ["object_tags_by_value", "objects_by_organization"]),
            ("k=v l=w device=d", ["object_tags_by_value", "object_tags_by_value", "objects_by_device"]),
            ("device=d OR site=1", ["objects_by_device", "objects_by_site"]), ("site=1 size>1", ["objects_by_site"]),
            ("size>1", ["objects_by_organization"]), ("device=d OR size>1", ["objects_by_organization"]),
            ("NOT (device=d OR site=1)", ["objects_by_organization"]), ("object_id=x", ["sqlite_autoindex_objects_1"]),
            ("NOT (NOT device=d)", ["objects_by_device"]),
        ])
    func indexesOfAPage(_ filter: String, _ indexes: [String]) throws {
        let scene = try CatalogScene()
        // Most objects belong to another organization.
        try scene.add(size: 1, organization: 2)
        try scene.database.readBlocking { connection in
            let stream = try SearchPlan.stream(
                of: try FilterParser.parse(filter).resolved(at: 0).hidingTrash, scope: 1, in: connection,
                budget: SearchBudget(100))
            let used = Self.indexes(of: stream)
            #expect(used.count == indexes.count)
            for (stream, index) in zip(used, indexes) {
                let plan = try connection.query(
                    "EXPLAIN QUERY PLAN \(stream.sql)", arguments: stream.arguments + [Int64.max, 10]
                ) { $0.text(3) }
                #expect(
                    plan.count == 1
                        && plan[0].hasPrefix("SEARCH \(index.hasPrefix("object_tags") ? "object_tags" : "objects")")
                        && plan[0].contains("INDEX \(index) ("), "\(filter): \(plan)")
            }
        }
    }

    private static func indexes(of stream: any PositionStream) -> [IndexStream] {
        switch stream {
        case let stream as IndexStream: [stream]
        case let stream as UnionStream: stream.streams.flatMap(indexes)
        case let stream as IntersectionStream: stream.streams.flatMap(indexes)
        case let stream as BoundedStream: indexes(of: stream.stream)
        default: []
        }
    }

    /// The rows of a page are read by position.
    @Test func rowsAreFoundByPosition() async throws {
        let scene = try CatalogScene()
        for size: Int64 in 1...300 { try scene.add(size: size, tags: size % 2 == 0 ? ["k": "v"] : [:]) }
        #expect(try await scene.walk("k=v OR size<4", size: 1000).count == 152)
        #expect(try await scene.walk("NOT k=v", size: 7) == stride(from: 299, through: 1, by: -2).map { Int64($0) })
    }
}
