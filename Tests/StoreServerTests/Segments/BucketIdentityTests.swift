import Basics
import Database
import DatabaseTesting
import Foundation
import HTTPTestClient
import StoreClient
import StoreTesting
import TestSupport
import Testing

@testable import ObjectStore
@testable import S3Engine

/// Databases that are older than the bucket, or belong to another one.
@Suite(.timeLimited) struct BucketIdentityTests {
    private let scene: BucketScene

    init() throws {
        scene = try BucketScene()
    }

    /// Stores an object of a completed upload.
    private func complete(_ gateway: BucketScene.Gateway, _ uploadID: String) async throws -> String {
        #expect(try gateway.store.client(uploadID: uploadID).put(content(1000)).status == 200)
        let fileID = try #require(try gateway.store.snapshot(uploadID).object?.fileID)
        try await gateway.store.store.describe(fileID, Array("facts".utf8))
        scene.set(uploadID, .completed)
        return fileID
    }

    private func copy(_ gateway: BucketScene.Gateway, to name: String) async throws {
        try await gateway.store.database.copy(to: "\(scene.folder.path)/\(name)")
    }

    @Test func documentIsReadAsItWasWritten() {
        let identity = BucketIdentity(
            storeID: "s", history: "h", position: 5, at: UnixTime(microseconds: 1_767_225_600_123_456), isClean: true)
        #expect(BucketIdentity(identity.bytes) == identity)
        #expect(BucketIdentity(Array("{}".utf8)) == nil)
        let history = StoreHistory(storeID: "s", id: "h", position: 5, sweptAt: nil)
        #expect(identity.compare(history) == .matching)
        #expect(
            identity.compare(StoreHistory(storeID: "s", id: "h", position: 4, sweptAt: nil)) == .diverged(.older))
        #expect(
            identity.compare(StoreHistory(storeID: "s", id: "h", position: 6, sweptAt: nil)) == .comparing)
        #expect(
            identity.compare(StoreHistory(storeID: "s", id: "x", position: 9, sweptAt: nil))
                == .diverged(.otherHistory))
    }

    @Test func databaseOfAnotherStoreIsRefused() async throws {
        let gateway = try scene.start()
        _ = try await complete(gateway, "upload-1")
        gateway.store.store.close()
        let refusal = #expect(throws: PrefixOfAnotherGateway.self) { try scene.start("another") }
        #expect(refusal?.storeID == gateway.upkeep.storeID)
        #expect(refusal?.description.contains("has the objects of another gateway") == true)
    }

    @Test func cleanStopNeedsNoComparison() async throws {
        let gateway = try scene.start()
        _ = try await complete(gateway, "upload-1")
        #expect(gateway.state == .matching)
        gateway.store.store.close()
        let next = try scene.start()
        #expect(next.engine.state == .matching && !next.store.store.isReconciled)
        // The record of the clean stop is of the process before.
        let other = try scene.start()
        #expect(other.store.store.isReconciled && other.state == .matching)
    }

    /// The recorded position is a lower bound: the database has it after a crash, too.
    @Test func crashBetweenTwoRecordsIsNoDivergence() async throws {
        let gateway = try scene.start()
        #expect(gateway.state == .matching)
        for index in 1...3 {
            _ = try await complete(gateway, "upload-\(index)")
            if index < 3 { try await gateway.engine.recordPosition() }
        }
        let next = try scene.start()
        #expect(next.store.store.isReconciled && next.state == .matching)
        #expect(!next.store.store.isForeign)
    }

    /// A database on a server is not copied while gateways use it.
    @Test(.onSQLite) func olderCopyRemovesNothing() async throws {
        let gateway = try scene.start()
        let first = try await complete(gateway, "upload-1")
        // In progress when the copy was made.
        let open = gateway.store.client(uploadID: "upload-2")
        let multipartID = try open.initiate()
        #expect(try open.part(1, of: multipartID, content(65_536)).status == 200)
        try await copy(gateway, to: "old")
        #expect(try open.part(2, of: multipartID, content(1000)).status == 200)
        #expect(try open.completeAll(multipartID).status == 200)
        scene.set("upload-2", .completed)
        for index in 3...6 {
            scene.clock.advance(seconds: 10 * 86_400)
            _ = try await complete(gateway, "upload-\(index)")
        }
        gateway.store.store.close()
        let keys = try scene.bucket.keys()
        // The old database has records of the first uploads only.
        for index in 2...6 { scene.set("upload-\(index)", nil) }
        let old = try scene.start("old")
        #expect(old.state == .diverged(.older))
        #expect(old.store.store.isForeign)
        scene.clock.advance(seconds: 40 * 86_400)
        #expect(try scene.sweep(old) == KeySweep.Result())
        #expect(try scene.forceSweep(old).removed == 0)
        #expect(try old.engine.removeDurably([first]).isEmpty)
        #expect(try scene.bucket.keys() == keys)
        // It stays so, however much is stored meanwhile.
        for index in 1...10 {
            #expect(try old.store.client(uploadID: "later-\(index)", lifetime: 100).put([1]).status == 200)
            old.upkeep.recordCleanStop()
        }
        #expect(try scene.start("old").state == .diverged(.otherHistory))
        // The newest database is still the one of the bucket.
        #expect(try scene.start().state == .matching)
    }

    /// A copy that lacks less than what was recorded last.
    @Test(.onSQLite) func copyWithoutTheLastCompletionsRemovesNothing() async throws {
        let gateway = try scene.start()
        _ = try await complete(gateway, "upload-1")
        #expect(gateway.state == .matching)
        try await gateway.engine.recordPosition()
        try await copy(gateway, to: "old")
        _ = try await complete(gateway, "upload-2")
        let keys = try scene.bucket.keys()
        let old = try scene.start("old")
        #expect(old.state == .diverged(.lacksUploads(count: 1)))
        scene.clock.advance(seconds: 2 * BucketScene.orphanAge)
        #expect(try scene.forceSweep(old).removed == 0)
        #expect(try scene.bucket.keys() == keys)
        #expect(try scene.start("old").state == .diverged(.otherHistory))
    }

    /// A comparison that finds nothing is no reason to remove anything again.
    @Test(.onSQLite) func divergenceIsEndedByAnOperatorOnly() async throws {
        let gateway = try scene.start()
        #expect(gateway.state == .matching)
        try await copy(gateway, to: "old")
        try await gateway.engine.recordPosition()
        let old = try scene.start("old")
        #expect(old.state == .diverged(.older))
        #expect(old.store.store.sweepFiles(try #require(ClockGuard(clock: scene.clock).permit())) == 0)
        #expect(try scene.sweep(old) == KeySweep.Result())
        #expect(old.state == .diverged(.older))
    }

    /// The database has the object, but not the CompleteUpload that was acknowledged.
    @Test func unlistedUploadIsADivergence() async throws {
        let gateway = try scene.start()
        _ = try await complete(gateway, "upload-1")
        scene.list(only: [])
        #expect(try scene.start().state == .diverged(.lacksUploads(count: 1)))
    }

    @Test func deletionIsNoDivergence() async throws {
        let gateway = try scene.start()
        _ = try await complete(gateway, "upload-1")
        #expect(gateway.state == .matching)
        try gateway.store.database.writeBlocking { [store = gateway.store.store] in
            try store.discard(uploadID: "upload-1", in: $0)
        }
        #expect(try gateway.store.files().isEmpty)
        #expect(try scene.start().state == .matching)
    }

    /// The old primary was stopped, and another gateway took the prefix over.
    @Test func replacedGatewayAcknowledgesAndRemovesNothing() async throws {
        let clocks = (ManualClock(), ManualClock())
        let object = OwnerObject(
            try scene.bucket.configuration(), try scene.bucket.client(), honorsConditions: true)
        func holder(_ host: String) -> PrefixHolder {
            PrefixHolder(host: host, process: 1, startedAt: UnixTime(seconds: 0), id: host)
        }
        _ = try scene.leaveSegment(try scene.start(), uploadID: "upload-2")
        let old = try await PrefixOwner.take(object, as: holder("old"), clock: clocks.0) { _ in }
        let gateway = try scene.start(owner: old)
        #expect(gateway.state == .matching)
        let fileID = try await complete(gateway, "upload-1")
        scene.set("upload-2", .ended)
        try await gateway.engine.recordPosition()
        scene.clock.advance(seconds: BucketScene.orphanAge + 100)
        clocks.0.advance(seconds: 100)
        _ = try await PrefixOwner.take(object, as: holder("new"), takeOver: true, clock: clocks.1) { _ in }
        let keys = try scene.bucket.keys()
        let client = gateway.store.client(uploadID: "upload-3", lifetime: 3600)
        #expect(try client.put(content(1000)).status == 503)
        #expect(try gateway.engine.removeDurably([fileID]).isEmpty)
        gateway.upkeep.noteChange()
        await #expect(throws: StorageFailure.self) { try await gateway.engine.recordPosition() }
        #expect(throws: StorageFailure.self) { try gateway.upkeep.sweepNow { _ in true } }
        gateway.store.store.work.upkeep.drain()
        #expect(try scene.bucket.keys() == keys)
        #expect(old.ownership == .lost(to: holder("new")))
    }
}
