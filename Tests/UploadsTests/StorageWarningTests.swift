import Basics
import GatewayProto
import GatewayTesting
import ObjectStore
import TestSupport
import Testing
import Webhooks

@testable import Uploads

/// The warnings that a quota is nearly used up, or the disk nearly full.
@Suite(.timeLimited) struct StorageWarningTests {
    private func scene(
        store: ObjectStoreConfiguration = ObjectStoreConfiguration(), site: Int64 = 0, device: Int64 = 0
    ) throws -> Scene {
        try Scene(store: store, events: [.storageNearlyFull]) { configuration in
            var quota = QuotaConfiguration()
            (quota.site.bytes, quota.device.bytes) = (site, device)
            configuration.quota.value = quota
        }
    }

    /// Adds an upload with an object of a size.
    private func add(_ bytes: Int64, by caller: Caller) async throws -> String {
        let upload = try await caller.create()
        try caller.scene.store(upload.uploadID, size: bytes)
        return upload.logicalUploadID
    }

    @Test(arguments: [
        (StorageLevel.Subject.site(1), 899, false, false), (.site(1), 900, true, false), (.site(1), 850, false, false),
        (.site(1), 849, false, true), (.device("d"), 2000, true, false), (.disk, 1999, true, false),
        (.disk, 2000, false, false), (.disk, 2499, false, false), (.disk, 2500, false, true), (.disk, 0, true, false),
    ])
    func warningBeginsNearTheLimitAndEndsAtADistance(
        _ subject: StorageLevel.Subject, _ bytes: Int64, _ isNearlyFull: Bool, _ isRelieved: Bool
    ) {
        let level = StorageLevel(subject: subject, bytes: bytes, limit: 1000)
        #expect(level.isNearlyFull == isNearlyFull)
        #expect(level.isRelieved == isRelieved)
    }

    @Test func quotaOfASiteIsWarnedOfOnceUntilTheWarningEnds() async throws {
        let scene = try scene(site: 1000)
        let site = try scene.site(1)
        _ = try await add(800, by: site)
        var extra: [String] = []
        func check(_ expected: Int) async throws {
            try await scene.uploads.warnings.run()
            #expect(try scene.events().map(\.name) == Array(repeating: "storage.nearly_full sites/1", count: expected))
        }
        try await check(0)
        extra.append(try await add(100, by: site))
        for _ in 0..<2 { try await check(1) }
        #expect(
            try #require(scene.events().first).payload.contains(#"{"quota_bytes":1000,"site_id":1,"used_bytes":900}"#))
        // 850 bytes are near the limit still.
        _ = try await site.abort(try #require(extra.popLast()))
        extra.append(try await add(50, by: site))
        try await check(1)
        extra.append(try await add(60, by: site))
        try await check(1)
        for upload in extra { _ = try await site.abort(upload) }
        try await check(1)
        _ = try await add(100, by: site)
        try await check(2)
    }

    @Test func quotaOfADeviceIsThatOfItsOrganization() async throws {
        let scene = try scene(device: 1000)
        let device = try scene.device(2, site: 3, organization: 2)
        _ = try await add(950, by: device)
        _ = try await add(10, by: scene.device(1))
        try await scene.uploads.warnings.run()
        let events = try scene.events()
        #expect(events.map(\.name) == ["storage.nearly_full devices/\(device.deviceID)"])
        #expect(events.first?.payload.contains(#""organization":"organization-2""#) == true)
    }

    @Test func gatewaysThatLookAtTheSameTimeWarnOnce() async throws {
        let scene = try scene(site: 1000)
        _ = try await add(950, by: scene.site(1))
        async let one: Void = scene.uploads.warnings.run()
        async let other: Void = StorageWarnings(
            database: scene.database, store: scene.store, outbox: scene.outbox, clock: scene.clock,
            quota: scene.configuration.quota
        ).run()
        _ = try await (one, other)
        #expect(try scene.events().count == 1)
    }

    @Test func fullDiskIsWarnedOfInTheSystemOrganization() async throws {
        var store = ObjectStoreConfiguration()
        store.minimumFreeBytes = 1 << 50
        let scene = try scene(store: store)
        try scene.rows.addOrganization("system")
        for _ in 0..<2 { try await scene.uploads.warnings.run() }
        let events = try scene.events()
        #expect(events.map(\.name) == ["storage.nearly_full store"])
        #expect(events[0].payload.contains(#""minimum_free_bytes":1125899906842624}"#))
        #expect(events[0].payload.contains(#""organization":"system""#))
    }

    @Test func withoutLimitsNothingIsWarnedOf() async throws {
        var store = ObjectStoreConfiguration()
        store.minimumFreeBytes = 0
        let scene = try scene(store: store)
        _ = try await add(1 << 40, by: scene.site(1))
        try await scene.uploads.warnings.run()
        #expect(try scene.events().isEmpty)
    }
}
