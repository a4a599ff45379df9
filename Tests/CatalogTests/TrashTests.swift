import Accounts
import Basics
import Database
import Foundation
import GatewayAPI
import Proto
import RPC
import TestSupport
import Testing
import Wire

@testable import Catalog
@testable import ObjectStore

@Suite(.timeLimited) struct TrashTests {
    private static let day: Int64 = 86_400
    let scene: CatalogScene

    init() throws {
        scene = try CatalogScene()
    }

    private func delete(_ object: CatalogObject, reason: String = "") async throws -> UnixTime? {
        try await scene.removal.delete(object.fileID, reason: reason, by: scene.caller())
    }

    private func restore(_ object: CatalogObject) async throws {
        _ = try await scene.removal.restore(object.fileID, by: scene.caller())
    }

    private func purge(_ object: CatalogObject, reason: String = "") async throws {
        try await scene.removal.purge(object.fileID, reason: reason, by: scene.caller())
    }

    private func tombstones() throws -> [String] {
        try scene.database.readBlocking { connection in
            try connection.query("SELECT deleted_by, reason, size FROM deleted_objects ORDER BY size") {
                "\($0.text(0)): \($0.text(1)), \($0.int(2))"
            }
        }
    }

    private func holdsFile(_ object: CatalogObject) -> Bool {
        scene.store.work.discards.drain()
        scene.store.work.removals.drain()
        return (try? scene.store.engine.open(object.fileID)) != nil
    }

    @Test func deletedObjectIsHiddenAndCanBeRestored() async throws {
        let object = try scene.add(bytes: [1, 2, 3])
        let details = ObjectManagementServiceMethods.getObject
        let purgeAt = try await delete(object, reason: "a person is in it")
        #expect(purgeAt == scene.clock.now().adding(seconds: 7 * Self.day))
        #expect(try await delete(object, reason: "another") == purgeAt)
        #expect(try await scene.sizes().isEmpty)
        #expect(try await scene.sizes("trashed=true") == [3])
        #expect(try await scene.sizes("run=1").isEmpty)
        let error = await #expect(throws: RPCError.self) { try await scene.download([object.fileID]) }
        #expect(error?.status == .notFound && error?.message.contains("in the trash") == true)
        let shown = try await scene.management.getObject(
            GetObjectRequest(fileID: object.fileID), context: scene.context(details))
        #expect(shown.trashedBy == "user:organization-1/boss" && shown.trashReason == "a person is in it")
        #expect(shown.purgeAt == purgeAt.map { Timestamp($0) })
        for _ in 0..<2 { try await restore(object) }
        #expect(try await scene.sizes("run=1") == [3])
        #expect(try await scene.sizes("trashed=true").isEmpty)
        #expect(try await scene.download([object.fileID]).files.count == 1)
        #expect(holdsFile(object))
        // The deletion, the restoration and the download: calls without an effect leave no line.
        #expect(try scene.audit().count == 3)
    }

    @Test func onlyTheTrashIsPurged() async throws {
        let object = try scene.add(bytes: [1, 2, 3])
        let error = await #expect(throws: RPCError.self) { try await purge(object) }
        #expect(error?.detail == .failedPrecondition)
        _ = try await delete(object, reason: "first")
        for _ in 0..<2 { try await purge(object) }
        #expect(!holdsFile(object))
        #expect(try tombstones() == ["user:organization-1/boss: first, 3"])
        let refused = await #expect(throws: RPCError.self) { try await restore(object) }
        #expect(refused?.status == .notFound && refused?.message.contains("permanently") == true)
        #expect(try await delete(object) == nil)
    }

    @Test func sweepPurgesAfterTheGrace() async throws {
        let objects = try (1...7).map { try scene.add(bytes: Array(repeating: 0, count: $0)) }
        let late = try scene.add(bytes: Array(repeating: 0, count: 8))
        for object in objects { _ = try await delete(object, reason: "old") }
        scene.clock.advance(seconds: Self.day)
        _ = try await delete(late)
        scene.clock.advance(seconds: 6 * Self.day - 1)
        #expect(try await scene.removal.sweepTrash(scene.permit) == 0)
        try await restore(objects[0])
        scene.clock.advance(seconds: 2)
        #expect(try await scene.removal.sweepTrash(scene.permit) == 6)
        #expect(try await scene.sizes() == [1])
        #expect(try await scene.sizes("trashed=true") == [8])
        #expect(try tombstones() == (2...7).map { "user:organization-1/boss: old, \($0)" })
        #expect(holdsFile(objects[0]) && holdsFile(late) && !holdsFile(objects[1]))
        #expect(try scene.audit().filter { $0.contains("SweepTrash") }.count == 2)
    }

    /// A clock that was set is not confirmed, and gives no permit; an earlier permit becomes invalid.
    @Test func steppedClockPurgesNothing() async throws {
        let object = try scene.add(bytes: [1])
        _ = try await delete(object)
        let permit = try scene.permit
        scene.clock.step(seconds: 400 * Self.day)
        #expect(scene.clockGuard.permit() == nil)
        await #expect(throws: ClockStepped.self) { try await scene.removal.sweepTrash(permit) }
        #expect(try await scene.sizes("trashed=true") == [1])
        scene.clock.step(seconds: -400 * Self.day)
        #expect(try await scene.removal.sweepTrash(scene.permit) == 0)
    }

    /// The object was trashed while the clock was slow: its time in the trash counts from the corrected time.
    @Test func slowClockDoesNotShortenTheGrace() async throws {
        let object = try scene.add(bytes: [1])
        _ = scene.clockGuard.permit()
        scene.clock.step(seconds: -400 * Self.day)
        #expect(scene.clockGuard.permit() == nil)
        _ = try await delete(object)
        scene.clock.step(seconds: 400 * Self.day)
        #expect(try await scene.removal.sweepTrash(scene.permit) == 0)
        scene.clock.advance(seconds: 7 * Self.day + 60)
        #expect(try await scene.removal.sweepTrash(scene.permit) == 1)
    }

    @Test func settingDecidesAboutTheGrace() async throws {
        let objects = try (1...3).map { try scene.add(bytes: Array(repeating: 0, count: $0)) }
        for object in objects.prefix(2) { _ = try await delete(object) }
        scene.clock.advance(seconds: 2 * Self.day)
        let method = ObjectManagementServiceMethods.setTrashSettings
        func set(_ days: Int32, dryRun: Bool = false) async throws -> SetTrashSettingsResponse {
            try await scene.management.setTrashSettings(
                SetTrashSettingsRequest(timeInTrash: .days(days), dryRun: dryRun), context: scene.context(method))
        }
        func shown() async throws -> GetTrashSettingsResponse {
            try await scene.management.getTrashSettings(
                GetTrashSettingsRequest(), context: scene.context(ObjectManagementServiceMethods.getTrashSettings))
        }
        let unset = await #expect(throws: RPCError.self) {
            try await scene.management.setTrashSettings(SetTrashSettingsRequest(), context: scene.context(method))
        }
        #expect(unset?.status == .invalidArgument)
        #expect(try await shown().days == 7)
        let expected = SetTrashSettingsResponse(days: 1, affectedObjects: 2, affectedBytes: 3)
        #expect(try await set(1, dryRun: true) == expected)
        #expect(try await shown() == GetTrashSettingsResponse(days: 7, trashedObjects: 2, trashedBytes: 3))
        #expect(try await set(2).affectedObjects == 0)
        #expect(try await scene.removal.sweepTrash(scene.permit) == 0)
        #expect(try await set(0).affectedObjects == 2)
        #expect(try await delete(objects[2]) == nil)
        #expect(!holdsFile(objects[2]) && holdsFile(objects[0]))
        #expect(try await scene.removal.sweepTrash(scene.permit) == 2)
        #expect(try await shown() == GetTrashSettingsResponse(days: 0))
        for days: Int32 in [-1, 3651] {
            let error = await #expect(throws: RPCError.self) { try await set(days) }
            #expect(error?.detail == .invalidArgument)
        }
    }

    /// Presigned URLs of objects trashed a moment ago are still in use.
    @Test func sweepWaitsForPresignedDownloads() async throws {
        let object = try scene.add(bytes: [1])
        _ = try await delete(object)
        try scene.setTrash(days: 0)
        scene.clock.advance(seconds: 3600)
        #expect(try await scene.removal.sweepTrash(scene.permit) == 0)
        scene.clock.advance(seconds: 1)
        #expect(try await scene.removal.sweepTrash(scene.permit) == 1)
    }

    @Test func retentionGoesThroughTheTrash() async throws {
        for size in 1...4 { try scene.add(bytes: Array(repeating: 0, count: size)) }
        try scene.setRetention(days: 30)
        scene.clock.advance(seconds: 31 * Self.day)
        #expect(try await scene.removal.applyRetention(scene.permit) == 4)
        #expect(try await scene.removal.applyRetention(scene.permit) == 0)
        #expect(try await scene.sizes("trashed=true") == [4, 3, 2, 1])
        let found = try await scene.list("trashed=true size=2").objects
        let fileID = try #require(found.first?.fileID)
        _ = try await scene.removal.restore(fileID, by: scene.caller())
        // Its age counts from its restoration; otherwise the next sweep would trash it again.
        #expect(try await scene.removal.applyRetention(scene.permit) == 0)
        scene.clock.advance(seconds: 8 * Self.day)
        #expect(try await scene.removal.sweepTrash(scene.permit) == 3)
        scene.clock.advance(seconds: 23 * Self.day)
        #expect(try await scene.removal.applyRetention(scene.permit) == 1)
    }

    /// However many of the newest objects are in the trash, a page contains the objects after them.
    @Test func trashMakesNoPageShort() async throws {
        let scene = try CatalogScene(visits: 60)
        for size: Int64 in 1...200 {
            let object = try scene.add(size: size)
            guard size > 20 else { continue }
            _ = try await scene.removal.delete(object.fileID, reason: "", by: scene.caller())
        }
        let expected = (Int64(11)...20).reversed().map { $0 }
        #expect(try await scene.sizes(size: 10) == expected)
        #expect(try await scene.sizes(size: 10, as: scene.user(isSystem: true)) == expected)
        #expect(try await scene.sizes("trashed=true", size: 10) == (Int64(191)...200).reversed().map { $0 })
    }

    @Test func trashIsNeitherCorruptedNorLost() async throws {
        let object = try scene.add(bytes: [1])
        try scene.database.writeBlocking {
            _ = try ScrubRecords($0).mark(object, isBad: true, at: scene.clock.now())
        }
        _ = try await delete(object)
        #expect(try scene.database.readBlocking { try ScrubRecords($0).countBad() } == 0)
        #expect(try await scene.list("trashed=true").objects.map(\.status) == [.bad])
        try await restore(object)
        #expect(try scene.database.readBlocking { try ScrubRecords($0).countBad() } == 1)
        #expect(try await scene.sizes().isEmpty)
    }

    /// Whatever calls are made at once, each object is either listed, in the trash, or deleted, and the counts agree.
    @Test func concurrentCallsLeaveOneState() async throws {
        let objects = try (1...6).map { try scene.add(bytes: Array(repeating: 0, count: $0)) }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<120 {
                let object = objects[number % objects.count]
                group.addTask {
                    switch number % 5 {
                    case 0, 1: _ = try? await delete(object)
                    case 2, 3: try? await restore(object)
                    default: try? await purge(object)
                    }
                }
            }
        }
        let (listed, trashed) = (try await scene.sizes(), try await scene.sizes("trashed=true"))
        let deleted = try tombstones().count
        #expect(listed.count + trashed.count + deleted == objects.count)
        let facets = try await scene.management.getObjectFacets(
            GetObjectFacetsRequest(), context: scene.context(ObjectManagementServiceMethods.getObjectFacets))
        #expect(facets.count == Int64(listed.count))
        #expect(try await scene.sizes("run=1") == listed)
    }

    @Test func editedTagsAreFoundAtOnce() async throws {
        let object = try scene.add(size: 1, tags: ["run": "1", "weather": "rain"])
        let method = ObjectManagementServiceMethods.updateObject
        func update(
            _ tags: [String: String] = [:], replace: Bool = false, remove: [String] = []
        ) async throws -> [String: String] {
            let reply = try await scene.management.updateObject(
                UpdateObjectRequest(fileID: object.fileID, tags: tags, replaceTags: replace, removeTags: remove),
                context: scene.context(method))
            return try #require(reply.object).tags
        }
        #expect(try await update(["weather": "Snow", "km": "7"]) == ["run": "1", "weather": "Snow", "km": "7"])
        #expect(try await scene.sizes("weather=Snow") == [1])
        #expect(try await scene.sizes("snow") == [1])
        #expect(try await scene.sizes("weather=rain").isEmpty)
        #expect(try await scene.sizes("rain").isEmpty)
        let counted = try await scene.management.getObjectFacets(
            GetObjectFacetsRequest(filter: "size>0"),
            context: scene.context(ObjectManagementServiceMethods.getObjectFacets))
        #expect(counted.facets.suffix(3).map { $0.values.map(\.value) } == [["7"], ["1"], ["Snow"]])
        #expect(try await update(["km": "7"]) == ["run": "1", "weather": "Snow", "km": "7"])
        #expect(try await update(remove: ["km", "none"]) == ["run": "1", "weather": "Snow"])
        #expect(try await update(replace: true).isEmpty)
        #expect(try scene.audit().count == 3)
        let facets = try await scene.management.getObjectFacets(
            GetObjectFacetsRequest(), context: scene.context(ObjectManagementServiceMethods.getObjectFacets))
        #expect(facets.facets.map(\.name) == ["device", "site", "recorded"])
        let full = Dictionary(uniqueKeysWithValues: (0..<256).map { ("k\($0)", "v") })
        #expect(try await update(full).count == 256)
        for (tags, remove) in [
            ([:], []), (["a": "b"], ["a"]), (["one more": "1"], []), (["": "1"], []), (["a\n": "1"], []),
            (["k1": String(repeating: "x", count: 2049)], []),
        ] as [([String: String], [String])] {
            let error = await #expect(throws: RPCError.self) { try await update(tags, remove: remove) }
            #expect(error?.detail == .invalidArgument)
        }
        #expect(try await scene.list().objects.map(\.tags) == [full])
        _ = try await delete(object)
        let error = await #expect(throws: RPCError.self) { try await update(["a": "b"]) }
        #expect(error?.detail == .failedPrecondition)
    }

    /// Returns the organizations of the lines of a sweep, in their order.
    private func organizations(_ action: String) throws -> [String] {
        try scene.audit().filter { $0.contains(" \(action) ") }.map { String($0.split(separator: " ")[1]) }
    }

    @Test func organizationsTakeTurnsInSweeps() async throws {
        for size in 1...7 { try scene.add(bytes: Array(repeating: 0, count: size)) }
        try scene.add(bytes: [1], organization: 2)
        for organization in [Int64(1), 2] { try scene.setRetention(days: 1, organization: organization) }
        scene.clock.advance(seconds: 2 * Self.day)
        #expect(try await scene.removal.applyRetention(scene.permit) == 8)
        let turns = ["organization-1", "organization-2", "organization-1", "organization-1"]
        #expect(try organizations("ApplyRetention") == turns)
        scene.clock.advance(seconds: 8 * Self.day)
        #expect(try await scene.removal.sweepTrash(scene.permit) == 8)
        #expect(try organizations("SweepTrash") == turns)
    }
}
