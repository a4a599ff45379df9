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

/// Lists in which each folder is one row.
@Suite(.timeLimited) struct FolderTests {
    private static let device = "260101-000001"

    /// A folder `run7` with a subfolder between other files of a device.
    private static func scene() throws -> CatalogScene {
        let scene = try CatalogScene()
        try scene.addFile(1, "before.mcap", of: device)
        try scene.addFile(2, "run7/metadata.yaml", of: device, tags: ["kind": "text"])
        try scene.addFile(3, "between.mcap", of: device)
        try scene.addFile(4, "run7/run7_0.mcap", of: device, recorded: 100...200)
        try scene.addFile(5, "run7/cameras/front.mp4", of: device, recorded: 150...250)
        try scene.addFile(6, "run7/cameras/rear.mp4", of: device)
        try scene.addFile(7, "run70/metadata.yaml", of: device)
        return scene
    }

    @Test func aFolderIsOneRowOfAllItsFiles() async throws {
        let scene = try Self.scene()
        let rows = try await scene.folderRows()
        #expect(rows.map(\.sizeBytes) == [7, 6, 3, 1])
        let folder = try #require(rows[1].folder)
        #expect(folder.path == "run7" && folder.filter == "device=260101-000001 folder:run7")
        #expect(folder.objects == 4 && folder.sizeBytes == 2 + 4 + 5 + 6 && !folder.isLowerBound)
        #expect(folder.recordedFrom?.seconds == 100 && folder.recordedTo?.seconds == 250)
        #expect(rows[0].folder?.path == "run70" && rows[2].folder == nil && rows[3].folder == nil)
        #expect(try await scene.sizes(folder.filter) == [6, 5, 4, 2])
        #expect(try await scene.list().objects.allSatisfy { $0.folder == nil })
    }

    @Test func anOpenFolderShowsItsOwnFolders() async throws {
        let scene = try Self.scene()
        let filter = "device=260101-000001 folder:run7"
        let rows = try await scene.folderRows(filter)
        #expect(rows.map(\.sizeBytes) == [6, 4, 2])
        #expect(rows[0].folder?.path == "run7/cameras" && rows[0].folder?.objects == 2)
        let inner = try #require(rows[0].folder?.filter)
        #expect(try await scene.folderRows(inner).map(\.folder) == [nil, nil])
        #expect(try await scene.sizes(inner) == [6, 5])
    }

    @Test func aFolderWhoseFilesMatchInPartIsCountedWhole() async throws {
        let scene = try Self.scene()
        for filter in ["kind=text", "size<3 size>1", "name:metadata* folder:run7", "name:metadata.yaml size<7"] {
            let rows = try await scene.folderRows(filter)
            #expect(rows.map(\.sizeBytes) == [2], "\(filter)")
            #expect(rows.first?.folder?.objects == (filter.contains("folder:") ? nil : 4), "\(filter)")
        }
    }

    @Test func foldersOfTheSameNameBelongToTheirOwners() async throws {
        let scene = try CatalogScene()
        try scene.addFile(1, "run/a", of: "d1")
        try scene.addFile(2, "run/a", of: "d2")
        try scene.addFile(3, "run/a", of: nil, site: 1)
        try scene.addFile(4, "run/a", of: nil, site: 2)
        try scene.addFile(5, "run/b", of: "d1", site: 2)
        try scene.addFile(6, "run/a", of: "d3", site: 3)
        let rows = try await scene.folderRows()
        #expect(rows.map(\.sizeBytes) == [5, 4, 3, 2])
        #expect(rows.map { $0.folder?.objects } == [2, 1, 1, 1])
        let filters = rows.compactMap { $0.folder?.filter }
        #expect(filters[2] == "site=1 device=\"\" folder:run")
        for (filter, expected) in zip(filters, [[5, 1], [4], [3], [2]] as [[Int64]]) {
            #expect(try await scene.sizes(filter) == expected, "\(filter)")
        }
        let system = try await scene.folderRows(as: scene.user(1, isSystem: true))
        #expect(system.map(\.sizeBytes) == [6, 5, 4, 3, 2])
    }

    @Test func namesAreComparedByBytes() async throws {
        let scene = try CatalogScene()
        try scene.addFile(1, "\u{e9} \"1\"/a", of: "d")
        try scene.addFile(2, "e\u{301} \"1\"/a", of: "d")
        try scene.addFile(3, "\u{e9} \"1\"/b", of: "d")
        let rows = try await scene.folderRows()
        #expect(rows.map(\.sizeBytes) == [3, 2] && rows.map { $0.folder?.objects } == [2, 1])
        #expect(try await scene.sizes(try #require(rows[0].folder?.filter)) == [3, 1])
    }

    @Test func theTrashIsNotCounted() async throws {
        let scene = try Self.scene()
        let all = try await scene.list(size: 100).objects
        for size: Int64 in [2, 6] {
            let object = try #require(all.first { $0.sizeBytes == size })
            _ = try await scene.management.deleteObject(
                DeleteObjectRequest(fileID: object.fileID, reason: "test"),
                context: scene.context(ObjectManagementServiceMethods.deleteObject))
        }
        let rows = try await scene.folderRows()
        #expect(rows.map(\.sizeBytes) == [7, 5, 3, 1] && rows[1].folder?.objects == 2)
        let trashed = try await scene.folderRows("trashed=true")
        #expect(trashed.map(\.sizeBytes) == [6] && trashed[0].folder?.objects == 2)
        let both = try await scene.folderRows("trashed=true OR trashed=false")
        #expect(both.count == 4 && both.first { $0.folder?.path == "run7" }?.folder?.objects == 4)
    }

    @Test func moreThanTenThousandFilesAreNotCounted() async throws {
        let scene = try CatalogScene()
        try scene.addFiles(10_001, in: "big", of: "d")
        let row = try #require(try await scene.folderRows(size: 1).first?.folder)
        #expect(row.objects == 10_000 && row.isLowerBound)
    }

    /// The rows are those of a plain grouping of the list, whatever the pages.
    @Test(arguments: 1...4) func pagesShowEachFolderOnce(_ seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let scene = try CatalogScene(visits: Int.random(in: 10...80, using: &generator))
        // More folders than a page token has.
        let names = ["a", "a/b", "a/b/c", "a b", ""] + (0..<20).map { "f\($0)" } + (0..<20).map { "a/f\($0)" }
        for size: Int64 in 1...200 {
            scene.clock.advance(seconds: Int64.random(in: -20...20, using: &generator))
            let folder = names.randomElement(using: &generator) ?? ""
            let name = "\(Int.random(in: 0...30, using: &generator)).\(size)"
            let isOther = Int.random(in: 0...5, using: &generator) == 0
            let device = (isOther ? [nil, "e"] : [nil, "d1", "d2"]).randomElement(using: &generator) ?? nil
            let recorded = Int64.random(in: 0...50, using: &generator)
            try scene.addFile(
                size / 2, folder.isEmpty ? name : "\(folder)/\(name)", of: device,
                site: isOther ? 3 : Int64.random(in: 1...2, using: &generator),
                tags: Int.random(in: 0...3, using: &generator) == 0 ? ["k": "v"] : [:],
                recorded: recorded...recorded + 10)
        }
        let filters = [
            "k=v", "NOT k=v", "size>20", "size<9 OR k=v", "folder:a", "folder:a/b OR k=v", "device=d1",
            "device=d1 folder:a", "device=d2 folder:a/b size>5", "site=1 device=\"\" folder:a", "device=\"\"",
        ]
        let orders = [
            "", "created", "created desc", "recorded", "recorded desc", "size", "size desc", "name", "name desc",
        ]
        for filter in [""] + filters.shuffled(using: &generator).prefix(4) {
            let order = orders.randomElement(using: &generator) ?? ""
            let user = scene.user(1, isSystem: Bool.random(using: &generator))
            let flat = try await scene.rows(filter, order, size: 1000, as: user)
            let parent = filter.contains("folder:a/b size") ? "a/b" : filter.hasSuffix("folder:a") ? "a" : ""
            var seen: Set<String> = []
            let expected = flat.filter { Self.folder(of: $0, below: parent).map { seen.insert($0).inserted } ?? true }
            let size = Int32.random(in: 1...8, using: &generator)
            let rows = try await scene.folderRows(filter, order, size: size, as: user)
            #expect(rows.map(\.objectID) == expected.map(\.objectID), "\(filter), \(order), pages of \(size)")
            for row in rows {
                let folder = Self.folder(of: row, below: parent)
                #expect((row.folder?.path).map { folder?.hasSuffix(":\($0)") == true } ?? (folder == nil))
            }
        }
    }

    /// The owner and the path of the folder of an object, separated by a colon.
    private static func folder(of object: DataObject, below parent: String) -> String? {
        let rest = parent.isEmpty ? object.relativePath[...] : object.relativePath.dropFirst(parent.count + 1)
        guard let end = rest.firstIndex(of: "/") else { return nil }
        let owner = object.deviceID.isEmpty ? "\(object.siteID)" : object.deviceID
        return "\(owner):\(object.relativePath[..<end])"
    }

    @Test(arguments: ["", "name", "name desc", "size desc", "recorded"])
    func aFolderThatGrowsDuringAWalkIsNotSkipped(_ order: String) async throws {
        let scene = try CatalogScene()
        for size: Int64 in 1...30 {
            try scene.addFile(size, size % 3 == 0 ? "f\(size % 9)/\(size)" : "\(size)", of: "d")
        }
        let expected = try await scene.folderRows("", order, size: 100)
        var number: Int64 = 100
        let rows = try await scene.folderRows("", order, size: 2) {
            for folder in ["f0", "f3", "f6", "new"] {
                number += 1
                try scene.addFile(number, "\(folder)/\(number)", of: "d")
            }
        }
        let paths = { (rows: [DataObject]) in rows.compactMap { $0.folder?.path }.filter { $0 != "new" } }
        #expect(paths(rows).sorted() == paths(expected).sorted())
        #expect(
            rows.filter { $0.folder == nil }.map(\.objectID) == expected.filter { $0.folder == nil }.map(\.objectID))
    }

    /// Tags that do not fit end a page, and the folders behind them are on the next one.
    @Test func pagesThatEndAtTheirBytesAreComplete() async throws {
        let scene = try CatalogScene()
        let tags = Dictionary(uniqueKeysWithValues: (0..<250).map { ("\($0)", String(repeating: "v", count: 2000)) })
        for size: Int64 in 0..<10 { try scene.addFile(size, "f\(size % 5)/\(size)", of: "d", tags: tags) }
        _ = try await scene.database.write {
            try $0.execute("UPDATE objects SET tag_bytes = 0, tag_texts = NULL WHERE position % 2 = 0")
        }
        for order in ["", "size desc"] {
            #expect(try await scene.folderRows("", order).map(\.sizeBytes) == [9, 8, 7, 6, 5], "\(order)")
        }
        #expect(try await scene.folderRows("", "name").map(\.sizeBytes) == [0, 1, 2, 3, 4])
    }

    @Test func aTokenIsBoundToFolders() async throws {
        let scene = try Self.scene()
        let token = try await scene.page("", "", size: 1, token: "", groupsFolders: true, as: scene.user())
            .nextPageToken
        await #expect(throws: RPCError.self) {
            try await scene.page("", "", size: 1, token: token, groupsFolders: false, as: scene.user())
        }
        let flat = try await scene.page("", "", size: 1, token: "", groupsFolders: false, as: scene.user())
            .nextPageToken
        await #expect(throws: RPCError.self) {
            try await scene.page("", "", size: 1, token: flat, groupsFolders: true, as: scene.user())
        }
    }

    // The work

    /// A folder that fills many pages is known from the token, and no object of it is compared again.
    @Test func pagesInsideAFolderCompareNothing() throws {
        let scene = try CatalogScene()
        let positions = try scene.addFiles(3000, in: "big", of: "d")
        let filter = ResolvedFilter.everything.hidingTrash
        try scene.database.readBlocking { connection in
            var cursor = FolderCursor(newest: positions.upperBound)
            cursor.add([UploadedFolder(organizationID: 1, owner: .device("d"), path: "big")])
            let place = Self.place(positions.lowerBound + 1000)
            var folders = FolderGrouping(cursor, after: place, order: nil, filter, scope: 1, in: connection)
            var walk = try NewestWalk(
                PageQuery(scope: 1, filter: filter, after: nil, limit: PageLimit(rows: 100), visits: 2000),
                after: place, in: connection)
            let rows = try walk.next(100)
            let decisions = try rows.map { try folders.decide($0.row.object) }
            #expect(decisions == Array(repeating: .omitted, count: 100) && folders.compared == 0)
        }
    }

    /// Without the token, a few objects decide. Where none of them matches, a page compares a bounded number, and the next one
    /// continues.
    @Test func comparisonsOfAPageAreBounded() throws {
        let scene = try CatalogScene()
        let positions = try scene.addFiles(25_000, in: "big", of: "d")
        let folder = UploadedFolder(organizationID: 1, owner: .device("d"), path: "big")
        try scene.database.readBlocking { connection in
            let rows = MatchingRows(.everything, scope: 1, in: connection)
            let last = try #require(try rows.matches(at: [positions.lowerBound], row: CatalogObject.init).first?.value)
            let place = Self.place(positions.lowerBound + 1)
            var cursor = FolderCursor(newest: positions.upperBound)
            let rare = try FilterParser.parse("size=1").resolved(at: 0).hidingTrash
            var decisions: [FolderGrouping.Decision] = []
            while decisions.count < 10, decisions.last != .first(folder) {
                var folders = FolderGrouping(cursor, after: place, order: nil, rare, scope: 1, in: connection)
                decisions.append(try folders.decide(last))
                #expect(folders.compared <= 10_000)
                cursor = try #require(FolderCursor(folders.next(without: []).text[...]))
            }
            #expect(decisions == [.undecided, .undecided, .first(folder)])
            var folders = FolderGrouping(
                FolderCursor(newest: positions.upperBound), after: place, order: nil,
                ResolvedFilter.everything.hidingTrash, scope: 1, in: connection)
            let decision = try folders.decide(last)
            #expect(decision == .omitted && folders.compared <= 8)
        }
    }

    private static func place(_ position: Int64) -> OrderPlace { OrderPlace(value: .number(0), position: position) }

    /// A folder with its owner is a list of positions, so that nothing else of the owner is read.
    @Test(arguments: ["device=d folder:run", "site=1 device=\"\" folder:run", "(device=d folder:run) size>1"])
    func aFolderOfAnOwnerIsARangeOfAnIndex(_ filter: String) throws {
        let scene = try CatalogScene()
        try scene.addFiles(50, in: "other", of: "d")
        try scene.addFiles(5, in: "run", of: "d")
        try scene.database.readBlocking { connection in
            let budget = SearchBudget(100)
            let stream = try SearchPlan.stream(
                of: FilterParser.parse(filter).resolved(at: 0).hidingTrash, scope: 1, in: connection, budget: budget)
            let streams = (stream as? IntersectionStream)?.streams ?? []
            #expect(streams.contains { $0 is PositionList })
        }
    }
}

extension CatalogScene {
    /// Adds a file, which is in a folder if its path has a slash. Site 3 is one of organization 2.
    fileprivate func addFile(
        _ size: Int64, _ path: String, of device: String?, site: Int64 = 1, tags: [String: String] = [:],
        recorded: ClosedRange<Int64>? = nil
    ) throws {
        var object = newObject(size: size, organization: site == 3 ? 2 : 1, site: site, device: device)
        object.description = CatalogObject.Description(
            name: FileName(Path.name(of: path)), relativePath: path.contains("/") ? RelativePath(path) : nil,
            contentType: "text/plain", crc64: nil, recordedFrom: recorded.map { UnixTime(seconds: $0.lowerBound) },
            recordedTo: recorded.map { UnixTime(seconds: $0.upperBound) })
        try database.writeBlocking { [object] in try ObjectRecords($0).insert(object, tags: tags) }
    }

    /// Adds files of the sizes 1 to `count` to a folder, and returns their first and last position.
    @discardableResult
    fileprivate func addFiles(_ count: Int, in folder: String, of device: String) throws -> ClosedRange<Int64> {
        // Some in each transaction, because a server takes seconds for all.
        for first in stride(from: 1, through: count, by: 5000) {
            try addFiles(first...min(first + 4999, count), in: folder, of: device)
        }
        let last = try database.readBlocking { connection in
            try connection.first("SELECT max(position) AS last FROM objects") { $0.int64("last") }
        }
        return (last ?? 0) - Int64(count) + 1...(last ?? 0)
    }

    private func addFiles(_ numbers: ClosedRange<Int>, in folder: String, of device: String) throws {
        _ = try database.writeBlocking { connection in
            try connection.execute(
                """
                WITH RECURSIVE numbers (number) AS (
                    SELECT CAST($1 AS BIGINT) UNION ALL SELECT number + 1 FROM numbers WHERE number < $4
                )
                INSERT INTO objects (id, file_id, upload_id, organization_id, site_id, device_id, bucket, object_key,
                    size, etag, created_at, uploaded_at, verified_at, name, relative_path)
                SELECT $2 || number, $2 || number, $2 || number, 1, 1, $3, '', '', number, '', 0, 0, 0, 'file',
                    $2 || '/' || number
                FROM numbers ORDER BY number
                """, numbers.lowerBound, folder, device, numbers.upperBound)
        }
    }

    fileprivate func page(
        _ filter: String, _ order: String, size: Int32, token: String, groupsFolders: Bool, as user: UserPrincipal
    ) async throws -> ListObjectsResponse {
        try await service.listObjects(
            ListObjectsRequest(
                pageSize: size, pageToken: token, filter: filter, orderBy: order, groupFolders: groupsFolders),
            context: CallContext(method: DataGatewayObjectServiceMethods.listObjects, identity: Principal.user(user)))
    }

    /// Returns the rows of all pages of a list with folders.
    fileprivate func folderRows(
        _ filter: String = "", _ order: String = "", size: Int32 = 100, as user: UserPrincipal? = nil,
        between: () throws -> Void = {}
    ) async throws -> [DataObject] {
        var (rows, token, pages) = ([DataObject](), "", 0)
        repeat {
            let page = try await page(
                filter, order, size: size, token: token, groupsFolders: true, as: user ?? self.user())
            #expect(page.objects.count <= size)
            rows += page.objects
            token = page.nextPageToken
            pages += 1
            try #require(pages < 1000, "the walk does not end")
            try between()
        } while !token.isEmpty
        return rows
    }

    /// Returns the objects of all pages of a list without folders.
    fileprivate func rows(
        _ filter: String, _ order: String, size: Int32, as user: UserPrincipal
    ) async throws -> [DataObject] {
        var (rows, token) = ([DataObject](), "")
        repeat {
            let page = try await page(filter, order, size: size, token: token, groupsFolders: false, as: user)
            rows += page.objects
            token = page.nextPageToken
        } while !token.isEmpty
        return rows
    }
}
