import Accounts
import Basics
import Database
import GatewayTesting
import ObjectFilters
import Proto
import Protobuf
import RPC
import TestSupport
import Testing

@testable import Catalog

/// The limit of a page in bytes, of which tags are most.
@Suite(.timeLimited) struct PageBytesTests {
    /// About half a MiB, the most that an object can have.
    private static let tags = Dictionary(
        uniqueKeysWithValues: (0..<250).map { ("key-\($0)", "\($0)" + String(repeating: "v", count: 2000)) })

    private func scene(objects: Int64 = 5) throws -> CatalogScene {
        let scene = try CatalogScene()
        for size in 1...objects { try scene.add(size: size, tags: Self.tags) }
        return scene
    }

    /// Walks over all pages; each is short.
    private func walk(_ scene: CatalogScene, _ filter: String = "", order: String = "") async throws -> [Int64] {
        var (sizes, token) = ([Int64](), "")
        repeat {
            let page = try await scene.service.listObjects(
                ListObjectsRequest(pageSize: 1000, pageToken: token, filter: filter, orderBy: order),
                context: scene.context(DataGatewayObjectServiceMethods.listObjects))
            #expect(page.objects.count <= 2)
            #expect(page.objects.allSatisfy { $0.tags == Self.tags })
            sizes += page.objects.map(\.sizeBytes)
            token = page.nextPageToken
            try #require(sizes.count <= 100)
        } while !token.isEmpty
        return sizes
    }

    @Test func pagesAreShortAndComplete() async throws {
        let scene = try scene()
        let tag = "raw_tags.key-1=1\(String(repeating: "v", count: 2000))"
        for filter in ["", tag, "size>0", "NOT raw_tags.a=b"] {
            #expect(try await walk(scene, filter) == [5, 4, 3, 2, 1], "\(filter)")
        }
        #expect(try await walk(scene, order: "created") == [1, 2, 3, 4, 5])
        #expect(try await walk(scene, order: "size desc") == [5, 4, 3, 2, 1])
        #expect(try await walk(scene, "size>0", order: "name") == [1, 2, 3, 4, 5])
        // Objects of early versions have no recorded size of their tags.
        _ = try await scene.database.write {
            try $0.execute("UPDATE objects SET tag_bytes = 0, tag_texts = NULL WHERE position % 2 = 0")
        }
        for filter in ["", "NOT raw_tags.a=b"] {
            #expect(try await walk(scene, filter) == [5, 4, 3, 2, 1], "\(filter)")
        }
    }

    @Test func topicsAreCounted() async throws {
        let scene = try CatalogScene()
        for size: Int64 in 1...5 {
            try scene.addTopics(100, to: try scene.add(size: size), suffix: String(repeating: "t", count: 5000))
        }
        var (sizes, token) = ([Int64](), "")
        repeat {
            let page = try await scene.service.listObjects(
                ListObjectsRequest(pageSize: 1000, pageToken: token, withTopics: true),
                context: scene.context(DataGatewayObjectServiceMethods.listObjects))
            #expect(page.objects.count <= 2)
            sizes += page.objects.map(\.sizeBytes)
            token = page.nextPageToken
        } while !token.isEmpty
        #expect(sizes == [5, 4, 3, 2, 1])
    }

    @Test func tagsAreCountedOnce() async throws {
        let scene = try scene()
        for filter in ["", "size>0"] {
            let page = try await scene.service.listObjects(
                ListObjectsRequest(pageSize: 1000, filter: filter),
                context: scene.context(DataGatewayObjectServiceMethods.listObjects))
            #expect(page.objects.count == 2)
        }
    }

    @Test func corruptedObjectsToo() async throws {
        let scene = try scene()
        _ = try await scene.database.write { try $0.execute("UPDATE objects SET bad_at = 1") }
        var (sizes, token) = ([Int64](), "")
        repeat {
            let page = try await scene.management.listBadObjects(
                ListBadObjectsRequest(pageSize: 1000, pageToken: token),
                context: scene.context(ObjectManagementServiceMethods.listBadObjects))
            #expect(page.objects.count <= 2)
            sizes += page.objects.map(\.sizeBytes)
            token = page.nextPageToken
        } while !token.isEmpty
        #expect(sizes == [5, 4, 3, 2, 1])
    }

    @Test func manySmallTagsAreCountedWithTheirNames() async throws {
        let scene = try CatalogScene()
        let tags = Dictionary(uniqueKeysWithValues: (0..<250).map { ("\($0)", "") })
        for size: Int64 in 1...300 { try scene.add(size: size, tags: tags) }
        let page = try await scene.list(size: 1000)
        #expect((150..<300).contains(page.objects.count) && !page.nextPageToken.isEmpty)
        #expect(page.encoded().count < 2 * PageLimit.bytes)
    }

    // Where pages are read

    private func query(_ filter: String = "", size: Int = 50) throws -> PageQuery {
        PageQuery(
            scope: 1, filter: try RequestedFilter.parse(filter).resolved(at: 0).hidingTrash, after: nil,
            limit: PageLimit(rows: size),
            visits: 2000)
    }

    @Test func loopReadsNoLargeTags() throws {
        let scene = try scene(objects: 1)
        let query = try #require(try query().onLoop)
        let page = try scene.database.readBlocking { try ObjectRecords($0).page(query) }
        #expect(page.rows.rows.isEmpty && page.next != nil)
    }

    @Test func loopReadsSomeDozenRowsOfALongPage() throws {
        let scene = try CatalogScene()
        for size: Int64 in 1...120 { try scene.add(size: size) }
        let query = try #require(try query(size: 1000).onLoop)
        let page = try scene.database.readBlocking { try ObjectRecords($0).page(query) }
        #expect(page.rows.rows.count == 50 && page.next != nil)
    }

    @Test(arguments: [
        ("", true), ("raw_tags.a=b size>5", true), ("device=x", true), ("raw_tags.a=b OR raw_tags.c=d", false),
        ("word", false), ("NOT raw_tags.a=b", false), ("topic:x", false),
    ]) func filtersThatCompareTagsLeaveTheLoop(_ filter: String, _ isOnLoop: Bool) throws {
        #expect((try query(filter).onLoop != nil) == isOnLoop)
    }

    /// While the background is occupied, a short page arrives, and a long one does not hold up what its thread does next.
    @Test func onlyLongPagesWaitForTheBackground() async throws {
        let scene = try CatalogScene()
        for size: Int64 in 1...60 { try scene.add(size: size) }
        let executor = SerialTaskExecutor()
        let listed = Signal()
        let (short, long) = try await scene.database.occupyingBackgroundReads {
            () async throws -> ([Int64], Task<[Int64], any Error>) in
            let short = try await scene.sizes(size: 50)
            let long = Task(executorPreference: executor) {
                let sizes = try await scene.sizes(size: 1000)
                listed.notify()
                return sizes
            }
            await Task(executorPreference: executor) { #expect(listed.count == 0) }.value
            return (short, long)
        }
        #expect(short.count == 50)
        #expect(try await long.value == Array(1...60).reversed())
    }
}
