import Accounts
import Basics
import Database
import DatabaseTesting
import GatewayAPI
import Proto
import RPC
import TestSupport
import Testing

@testable import Catalog

@Suite(.timeLimited) struct StatisticsTests {
    /// The scene, whose clock begins at midnight of 2026-01-01, UTC.
    let scene: CatalogScene

    init() throws {
        scene = try CatalogScene()
        // Without a trash, so that objects are deleted at once.
        for organization: Int64 in 1...2 { try scene.setTrash(days: 0, organization: organization) }
    }

    private func statistics(days: Int32, as user: UserPrincipal? = nil) async throws -> GetStatisticsResponse {
        try await scene.management.getStatistics(
            GetStatisticsRequest(days: days),
            context: CallContext(
                method: ObjectManagementServiceMethods.getStatistics, identity: Principal.user(user ?? scene.user())))
    }

    private func delete(_ object: CatalogObject) async throws {
        _ = try await scene.management.deleteObject(
            DeleteObjectRequest(fileID: object.fileID),
            context: CallContext(
                method: ObjectManagementServiceMethods.deleteObject, identity: Principal.user(scene.user())))
    }

    @Test func eachDayHasWhatCameAndWent() async throws {
        let first = try scene.add(size: 100)
        try scene.add(size: 20)
        scene.clock.advance(seconds: 2 * 86_400)
        try scene.add(size: 3)
        try await delete(first)
        let response = try await statistics(days: 4)
        #expect(response.storedObjects == 2)
        #expect(response.storedBytes == 23)
        #expect(response.days.map(\.date) == ["2025-12-31", "2026-01-01", "2026-01-02", "2026-01-03"])
        #expect(response.days.map(\.storedBytes) == [0, 120, 120, 23])
        #expect(response.days.map(\.arrivedObjects) == [0, 2, 0, 1])
        #expect(response.days.map(\.arrivedBytes) == [0, 120, 0, 3])
        #expect(response.days.map(\.deletedBytes) == [0, 0, 0, 100])
    }

    @Test func objectsStoredBeforeTheDaysAreCounted() async throws {
        try scene.add(size: 100)
        scene.clock.advance(seconds: 50 * 86_400)
        let response = try await statistics(days: 0)
        #expect(response.days.count == 30)
        #expect(response.days.allSatisfy { $0.storedBytes == 100 && $0.arrivedBytes == 0 })
    }

    @Test func downloadsCountWhereTheObjectIs() async throws {
        let objects = [try scene.add(bytes: [1, 2]), try scene.add(bytes: [3], organization: 2)]
        _ = try await scene.download(objects.map(\.fileID), as: scene.user(isSystem: true))
        let mine = try await statistics(days: 1).days
        #expect(mine.map(\.requestedObjects) == [1])
        #expect(mine.map(\.requestedBytes) == [2])
        let all = try await statistics(days: 1, as: scene.user(isSystem: true)).days
        #expect(all.map(\.requestedBytes) == [3])
        #expect(all.map(\.arrivedObjects) == [2])
    }

    @Test func tooManyDaysAreRefused() async throws {
        for days: Int32 in [-1, 401] {
            await #expect(throws: RPCError.invalidArgument("days must be 0 to 400")) {
                try await statistics(days: days)
            }
        }
    }

    /// The migration counts existing objects. No database on PostgreSQL is older than it.
    @Test(.onSQLite) func keptCountsEqualTheMigrationsCounts() async throws {
        let first = try scene.add(size: 100)
        scene.clock.advance(seconds: 86_400)
        try scene.add(size: 7, organization: 2)
        try await delete(first)
        let columns = "organization_id, day, arrived_objects, arrived_bytes, deleted_objects, deleted_bytes"
        func rows() throws -> [[Int64]] {
            try scene.database.readBlocking { connection in
                try connection.query("SELECT \(columns) FROM object_days ORDER BY 1, 2") { row in
                    (0..<6).map { row.int64($0) }
                }
            }
        }
        let kept = try rows()
        let filling = try #require(StatisticsSchema.migration.sql.split(separator: "END;").last)
        try scene.database.writeBlocking { connection in
            try connection.execute("DELETE FROM object_days")
            try connection.execute(String(filling))
        }
        #expect(try rows() == kept)
    }

    @Test func anObjectIsShownWithItsTags() async throws {
        let object = try scene.add(size: 5, device: "260101-000001", tags: ["weather": "rain", "run": "1"])
        func details(as user: UserPrincipal) async throws -> ObjectDetails {
            try await scene.management.getObject(
                GetObjectRequest(fileID: object.fileID),
                context: CallContext(
                    method: ObjectManagementServiceMethods.getObject, identity: Principal.user(user)))
        }
        let found = try await details(as: scene.user())
        #expect(found.tags == ["weather": "rain", "run": "1"])
        #expect(found.object?.sizeBytes == 5)
        #expect(found.deviceID == "260101-000001")
        #expect(found.organization == "organization-1")
        #expect(found.uploadID == object.uploadID)
        await #expect(throws: RPCError.self) { try await details(as: scene.user(2)) }
        #expect(try await details(as: scene.user(2, isSystem: true)).object?.fileID == object.fileID)
    }
}
