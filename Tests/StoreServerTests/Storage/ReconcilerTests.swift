import Basics
import Crypto
import Database
import Foundation
import HTTPTestClient
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import DirectoryEngine
@testable import ObjectStore

/// The reconciliation of files and rows at a start, also while requests are served.
@Suite(.timeLimited, .onDirectory) struct ReconcilerTests {
    private func change(_ store: TestStore, _ sql: String) throws {
        try store.database.writeBlocking { _ = try $0.execute(sql) }
    }

    /// Creates an orphan, by which tests see whether the start of `store` reconciled: it is removed then.
    private func orphan(in store: TestStore) throws -> String {
        let path = store.path(Random.hex(16))
        #expect(FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o200]))
        return path
    }

    @Test func aCleanStopLeavesNothingToCompare() throws {
        let store = try TestStore(inMemory: true)
        _ = try store.client().put(content(10))
        let path = try #require(try store.files().first.map(store.path))
        // A change of mode does not change the folder's time: a start that looked at the file would seal it again.
        try store.restart(isClean: true) { chmod(path, 0o600) }
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(try store.client().get() == content(10))
        // The record of the clean stop is valid for one start.
        try store.restart()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o400)
    }

    @Test(arguments: ["a file more", "a file less", "another store", "an older database", "a database one ahead"])
    func changesAfterACleanStopAreNoticed(_ what: String) throws {
        let store = try TestStore(inMemory: true)
        _ = try store.client().put(content(10))
        let path = try #require(try store.files().first.map(store.path))
        try store.restart(isClean: true) {
            switch what {
            case "a file more": _ = try orphan(in: store)
            case "a file less": try FileManager.default.removeItem(atPath: path)
            case "another store": try change(store, "UPDATE store_identity SET id = 'other'")
            case "an older database": try change(store, "UPDATE store_identity SET generation = generation - 1")
            default: try change(store, "UPDATE store_identity SET generation = generation + 1")
            }
            chmod(path, 0o600)
        }
        switch what {
        case "a file more": #expect(store.store.reconciliation == StoreReconciliation(removed: 1))
        case "a file less": #expect(store.store.reconciliation == StoreReconciliation(lost: 1))
        case "another store", "an older database": #expect(store.store.isForeign)
        default:
            var status = stat()
            #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o400)
        }
    }

    @Test func aStopThatLeavesAFileBehindIsNotClean() throws {
        let store = try TestStore(inMemory: true)
        let new = try store.store.data.create(length: nil)
        defer { withExtendedLifetime(new) {} }
        try store.restart(isClean: true)
        #expect(store.store.reconciliation == StoreReconciliation(removed: 1))
    }

    @Test func aStopWhileItIsComparedIsNotClean() throws {
        let store = try TestStore(inMemory: true)
        let path = try orphan(in: store)
        let reconciler = store.store.reconciler
        reconciler.stop()
        reconciler.begin { [clock = store.clock] in $0 < clock.now() }
        reconciler.drain()
        #expect(reconciler.foldersLeft == 256)
        #expect(FileManager.default.fileExists(atPath: path))
        try store.restart(isClean: true)
        #expect(store.store.reconciliation == StoreReconciliation(removed: 1))
        #expect(store.store.foldersToReconcile == 0)
    }

    @Test func aFileOfARequestThatIsUnderWayStays() throws {
        let store = try TestStore(inMemory: true)
        let new = try store.store.data.create(length: nil)
        let removedPath = try orphan(in: store)
        store.store.reconciler.begin { [clock = store.clock] in $0 < clock.now() }
        store.store.reconciler.drain()
        #expect(FileManager.default.fileExists(atPath: store.path(new.id)))
        #expect(!FileManager.default.fileExists(atPath: removedPath))
        new.abandon()
        #expect(store.store.data.pending.isEmpty)
    }

    @Test func comparesRightlyWhileObjectsComeAndGo() throws {
        let store = try TestStore(inMemory: true)
        _ = try store.client().put(content(10))
        let done = Lock(false)
        let threads = (0..<4).map { index in
            let client = store.client(uploadID: "busy-\(index)")
            return TestThread {
                while !done.withLock({ $0 }) {
                    _ = try? client.put(content(10))
                    if let id = try? client.initiate() {
                        _ = try? client.part(1, of: id, content(5))
                        _ = try? client.completeAll(id)
                    }
                }
            }
        }
        for _ in 0..<20 {
            store.store.reconciler.begin { [clock = store.clock] in $0 < clock.now() }
            store.store.reconciler.drain()
        }
        done.withLock { $0 = true }
        for thread in threads { try thread.join() }
        #expect(store.store.reconciliation == StoreReconciliation())
        #expect(try store.client().get() == content(10))
        let lost = try store.database.readBlocking {
            try $0.first("SELECT count(*) FROM store_objects WHERE lost = 1", row: { $0.int64(0) })
        }
        #expect(lost == 0)
    }
}
