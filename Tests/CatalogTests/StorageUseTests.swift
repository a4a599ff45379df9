import Accounts
import Basics
import Database
import GatewayAPI
import GatewayTesting
import Proto
import RPC
import TestSupport
import Testing

@testable import Catalog

@Suite(.timeLimited) struct StorageUseTests {
    let scene: CatalogScene

    init() throws {
        scene = try CatalogScene()
    }

    /// Adds an object of a type, whose recording began at a time in seconds since 1970.
    @discardableResult
    private func add(
        _ size: Int64, device: String? = nil, site: Int64 = 1, type: String = "text/plain", recordedAt: Int64? = nil,
        tags: [String: String] = [:]
    ) throws -> CatalogObject {
        var object = scene.newObject(size: size, site: site, device: device)
        object.description = CatalogObject.Description(
            name: FileName("\(size).bin"), contentType: type, crc64: 1,
            recordedFrom: recordedAt.map { UnixTime(seconds: $0) })
        try scene.database.writeBlocking { [object] in try ObjectRecords($0).insert(object, tags: tags) }
        return object
    }

    private func use(
        _ group: String = "", limit: Int32 = 0, zone: String = "", as user: UserPrincipal? = nil
    ) async throws -> GetStorageUseResponse {
        try await scene.management.getStorageUse(
            GetStorageUseRequest(groupBy: group, valueLimit: limit, timeZone: zone),
            context: scene.context(ObjectManagementServiceMethods.getStorageUse, as: user))
    }

    /// Returns the values of a group, as `value objects bytes`.
    private func values(
        _ group: String, limit: Int32 = 0, zone: String = "", as user: UserPrincipal? = nil
    ) async throws -> [String] {
        let groups = try await use(group, limit: limit, zone: zone, as: user).groups
        #expect(groups.map(\.name) == [group])
        return groups.flatMap { $0.values.map { "\($0.value) \($0.objects) \($0.bytes)" } }
    }

    private func fill() throws {
        try add(100, device: OneDevice.id, type: "video/mp4", recordedAt: 1_795_305_600, tags: ["run": "a"])
        try add(20, device: "260427-000009", site: 7, tags: ["run": "b", "weather": "rain"])
        try add(3, device: "260427-000009", site: 7, tags: ["run": "b"])
        try scene.add(size: 5000, organization: 2)
    }

    @Test func groupsHaveTheirBytesWithTheLargestFirst() async throws {
        try fill()
        #expect(try await values("site") == ["1 1 100", "7 2 23"])
        #expect(try await values("device") == ["\(OneDevice.id) 1 100", "260427-000009 2 23"])
        #expect(try await values("content_type") == ["video/mp4 1 100", "text/plain 2 23"])
        #expect(try await values("raw_tags.run") == ["a 1 100", "b 2 23"])
        #expect(try await values("raw_tags.none") == [])
        #expect(try await values("month") == ["2026-11 1 100", "2026-01 2 23"])
        #expect(try await values("day", zone: "America/Sao_Paulo") == ["2026-11-21 1 100", "2025-12-31 2 23"])
        #expect(try await values("site", limit: 1) == ["1 1 100"])
        let all = try await use()
        #expect(all.groups.map(\.name) == ["site", "device", "content_type", "month"])
        #expect((all.objects, all.bytes, all.isComplete) == (3, 123, true))
        #expect(all.tagKeys == ["run", "weather"])
        #expect(all.groups[0].totalValues == 2 && !all.groups[0].isLowerBound)
        #expect(try await use("site", limit: 1).groups[0].totalValues == 2)
        #expect(try await use("device").groups[0].values.map(\.displayName) == ["Picker 041", ""])
    }

    @Test func organizationSeesOnlyItsOwn() async throws {
        try fill()
        #expect(try await values("site", as: scene.user(2)) == ["1 1 5000"])
        let all = scene.user(1, isSystem: true)
        #expect(try await values("organization", as: all) == ["organization-2 1 5000", "organization-1 3 123"])
        #expect(try await values("organization") == ["organization-1 3 123"])
        #expect(try await values("site", as: all) == ["1 2 5100", "7 2 23"])
        #expect(try await use(as: all).groups.map(\.name).first == "organization")
        #expect(try await use(as: all).bytes == 5123)
    }

    @Test func trashIsCountedApart() async throws {
        try fill()
        let object = try add(1000, type: "video/mp4", tags: ["run": "c"])
        let caller = try scene.caller()
        _ = try await scene.removal.delete(object.fileID, reason: "", by: caller)
        let trashed = try await use("content_type")
        #expect((trashed.objects, trashed.bytes, trashed.trashedObjects, trashed.trashedBytes) == (3, 123, 1, 1000))
        #expect(trashed.groups[0].values.map(\.bytes) == [100, 23])
        _ = try await scene.removal.restore(object.fileID, by: caller)
        #expect(try await values("content_type") == ["video/mp4 2 1100", "text/plain 2 23"])
        _ = try await scene.removal.delete(object.fileID, reason: "", by: caller)
        try await scene.removal.purge(object.fileID, reason: "", by: caller)
        let purged = try await use("raw_tags.run")
        #expect((purged.bytes, purged.trashedBytes) == (123, 0))
        #expect(purged.groups[0].values.map(\.value) == ["a", "b"])
    }

    @Test func bytesMoveWithTagsAndTypes() async throws {
        let object = try add(50, type: "application/octet-stream", tags: ["run": "a"])
        _ = try await scene.management.updateObject(
            UpdateObjectRequest(fileID: object.fileID, tags: ["run": "b"]),
            context: scene.context(ObjectManagementServiceMethods.updateObject))
        #expect(try await values("raw_tags.run") == ["b 1 50"])
        try scene.database.writeBlocking {
            try ObjectRecords($0).setContentType("image/png", ofFile: object.fileID)
        }
        #expect(try await values("content_type") == ["image/png 1 50"])
        #expect(try await scene.sizes("content_type=image/png") == [50])
        #expect(try await scene.sizes("content_type=application/octet-stream") == [])
    }

    @Test func requestIsChecked() async throws {
        for (group, limit, zone) in [
            ("color", 0, ""), ("raw_tags.", 0, ""), ("site", -1, ""), ("site", 1001, ""), ("day", 0, "Mars/Base"),
        ] as [(String, Int32, String)] {
            let error = await refusal { _ = try await use(group, limit: limit, zone: zone) }
            #expect(error?.detail == .invalidArgument, "\(group) \(limit) \(zone)")
        }
        let error = await refusal { _ = try await use("color") }
        #expect(
            error?.message == "group_by must be organization, site, device, content_type, month, day or raw_tags.KEY")
    }

    /// The sums as a database of an earlier version has them, and after the upgrade.
    @Test(arguments: [1, 3, 100]) func objectsOfEarlierVersionsAreAddedWhileTheyChange(_ batch: Int) async throws {
        try scene.setTrash(days: 7)
        let caller = try scene.caller()
        var objects: [CatalogObject] = []
        for size: Int64 in 1...12 {
            objects.append(
                try add(
                    size, device: size % 2 == 0 ? OneDevice.id : nil, site: size % 3,
                    type: size % 4 == 0 ? "application/octet-stream" : "text/plain", tags: ["run": "\(size % 5)"]))
        }
        _ = try await scene.removal.delete(objects[1].fileID, reason: "", by: caller)
        try scene.database.writeBlocking { connection in
            try connection.execute("UPDATE object_facets SET bytes = 0")
            try connection.execute("DELETE FROM object_facets WHERE kind = 8")
            try connection.execute(
                "INSERT INTO facet_bytes_upgrade (id, lowest, position) SELECT 1, 0, max(position) + 1 FROM objects")
        }
        #expect(try await use().isComplete == false)
        #expect(try await use().trashedObjects == 0)
        try add(1000, site: 2, tags: ["run": "4"])
        for step in 0..<20 {
            let remaining = try scene.database.writeBlocking { connection in
                try SearchRecords(connection).enterBytesOfNext(batch)
                return try SearchRecords(connection).withoutBytes()
            }
            switch step {
            case 0: _ = try await scene.removal.delete(objects[2].fileID, reason: "", by: caller)
            case 1: _ = try await scene.removal.restore(objects[1].fileID, by: caller)
            case 2:
                try scene.database.writeBlocking { [objects] in
                    try ObjectRecords($0).setContentType("image/png", ofFile: objects[3].fileID)
                    try ObjectRecords($0).setContentType("image/png", ofFile: objects[11].fileID)
                }
            case 3:
                _ = try await scene.management.updateObject(
                    UpdateObjectRequest(fileID: objects[4].fileID, tags: ["run": "new"]),
                    context: scene.context(ObjectManagementServiceMethods.updateObject))
            default: break
            }
            if remaining == nil, step >= 3 { break }
        }
        let kept = try sums("SELECT kind, key, value, objects, bytes FROM object_facets WHERE kind IN (1, 2, 3, 5, 8)")
        let counted = try sums(
            """
            SELECT kind, key, value, count(*) AS objects, sum(size) AS bytes FROM (
                SELECT 1 AS kind, '' AS key, '' AS value, size FROM objects WHERE trashed_at IS NULL
                UNION ALL SELECT 2, '', device_id, size FROM objects WHERE trashed_at IS NULL AND device_id IS NOT NULL
                UNION ALL SELECT 3, '', CAST(site_id AS TEXT), size FROM objects WHERE trashed_at IS NULL
                UNION ALL SELECT 5, t.key, t.value, o.size FROM objects o JOIN object_tags t ON t.position = o.position
                    WHERE o.trashed_at IS NULL
                UNION ALL SELECT 8, '', content_type, size FROM objects WHERE trashed_at IS NULL
            ) AS counted GROUP BY kind, key, value
            """)
        #expect(kept == counted)
        #expect(try scene.database.readBlocking { try RecordingCounts($0).countWrong() } == 0)
        #expect(try await use().isComplete)
        #expect(try await use().trashedBytes == 3)
    }

    private func sums(_ query: String) throws -> [String] {
        try scene.database.readBlocking { connection in
            try connection.query(query) { row in
                let names = [row.text("key"), row.text("value")].joined(separator: "=")
                return "\(row.int64("kind")) \(names) \(row.int64("objects")) \(row.int64("bytes"))"
            }.sorted()
        }
    }

    @Test func upgradeEndsWithoutObjects() async throws {
        _ = try scene.database.writeBlocking {
            try $0.execute("INSERT INTO facet_bytes_upgrade (id, lowest, position) VALUES (1, 5, 5)")
        }
        let pacing = UpgradePacing(log: .discarding, sleep: { _ in })
        let upgrade = FacetBytesUpgrade(database: scene.database, pacing: pacing)
        await upgrade.run()
        #expect(try await use().isComplete)
    }
}
