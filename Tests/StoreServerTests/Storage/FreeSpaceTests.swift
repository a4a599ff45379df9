import Basics
import Foundation
import HTTPTestClient
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import DirectoryEngine
@testable import ObjectStore
@testable import StoreProtocol

@Suite(.timeLimited) struct FreeSpaceTests {
    @Test func looksOnceASecond() throws {
        let clock = ManualClock()
        let free = Lock<[Int64]>([100, 99])
        let space = FreeSpace(floor: 100, clock: clock) { free.withLock { $0.removeFirst() } }
        try space.requireForNewUpload()
        try space.requireForNewUpload()
        clock.advance(seconds: 1)
        #expect(throws: ObjectStoreError.noSpaceForNewUpload) { try space.requireForNewUpload() }
        #expect(throws: ObjectStoreError.noSpaceForNewUpload) { try space.requireForNewUpload() }
        #expect(free.withLock { $0.isEmpty })
    }

    @Test func doesNotLookWithoutAFloor() throws {
        let looks = Lock(0)
        let space = FreeSpace(floor: 0, clock: ManualClock()) {
            looks.withLock { $0 += 1 }
            throw StorageFailure.other(errno: EIO)
        }
        try space.requireForNewUpload()
        #expect(looks.withLock { $0 } == 0)
    }

    @Test func asksTheFileSystem() throws {
        let available = try DirectoryConfiguration.available(at: "/tmp")
        let attributes = try FileManager.default.attributesOfFileSystem(forPath: "/tmp")
        let total = try #require(attributes[.systemSize] as? NSNumber).int64Value
        #expect((1..<total).contains(available))
        #expect(throws: StorageFailure.missing) { try DirectoryConfiguration.available(at: "/nowhere") }
    }

    @Test(.onDirectory) func refusesNewUploadsAndGoesOnWithOthers() throws {
        var configuration = ObjectStoreConfiguration()
        let free = Lock<Int64>(10)
        configuration.minimumFreeBytes = 10
        var files = DirectoryConfiguration()
        files.freeBytes = { _ in free.withLock { $0 } }
        let store = try TestStore(configuration, files: files)
        let client = store.client()
        let id = try client.initiate()
        free.withLock { $0 = 9 }
        store.clock.advance(seconds: 1)
        #expect(try client.send("POST", query: "uploads").error == "503 ServiceUnavailable")
        #expect(try client.put(content(10)).error == "503 ServiceUnavailable")
        #expect(try store.files().count == 1)
        #expect(try client.part(1, of: id, content(10)).status == 200)
        #expect(try client.completeAll(id).status == 200)
        #expect(try client.get() == content(10))
        free.withLock { $0 = 10 }
        store.clock.advance(seconds: 1)
        #expect(try client.put(content(10)).status == 200)
    }
}
