import Database
import Foundation
import HTTPTestClient
import Platform
import Testing

@testable import ObjectStore

struct DurabilityTests {
    private static let partSize = Int(TestStore.partSize)

    private func change(_ store: TestStore, _ sql: String) throws {
        try store.database.writeBlocking { _ = try $0.execute(sql) }
    }

    @Test func goesOnAfterARestart() throws {
        let store = try TestStore()
        let body = content(Self.partSize + 3)
        let id = try store.client().initiate()
        _ = try store.client().part(1, of: id, Array(body.prefix(Self.partSize)))
        try store.restart()
        #expect(store.store.reconciliation == StoreReconciliation())
        #expect(try store.client().send("GET", query: "uploadId=\(id)").elements("PartNumber") == ["1"])
        _ = try store.client().part(2, of: id, Array(body.dropFirst(Self.partSize)))
        let done = try store.client().completeAll(id)
        try store.restart()
        #expect(try store.client().completeAll(id).body.count == done.body.count)
        #expect(try store.client().get() == body)
        #expect(store.store.reconciliation == StoreReconciliation())
    }

    @Test func saysThatTheDiskIsFullAndRecordsNothing() throws {
        let store = try TestStore()
        let client = store.client()
        let id = try client.initiate()
        let path = try #require(try store.files().first.map(store.path))
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/full")
        #expect(try client.part(1, of: id, content(100)).error == "503 ServiceUnavailable")
        #expect(try store.snapshot().multiparts == [.init(id: id, partCount: 0)])
        try FileManager.default.removeItem(atPath: path)
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        #expect(try client.part(1, of: id, content(100)).status == 200)
        #expect(try client.completeAll(id).status == 200)
        #expect(try client.get() == content(100))
    }

    @Test func sweepsWhatNoRowSpeaksOf() throws {
        let store = try TestStore()
        let client = store.client()
        _ = try client.put(content(10))
        let kept = try store.files()
        let (young, _) = try store.store.data.create()
        let (old, _) = try store.store.data.create()
        // Two whose rows are gone, and one whose request never came to its commit.
        for fileID in [young, old] { store.store.data.keep(fileID) }
        let (fresh, _) = try store.store.data.create()
        let (finished, _) = try store.store.data.create()
        store.store.data.seal(finished)
        let past = Date(timeIntervalSince1970: TimeInterval(store.clock.now().seconds - 31 * 86_400))
        let present = Date(timeIntervalSince1970: TimeInterval(store.clock.now().seconds))
        for (fileID, date) in [(old, past), (finished, past), (young, present), (fresh, present)] {
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: store.path(fileID))
        }
        try store.restart()
        #expect(try Set(store.files()) == Set(kept + [young]))
        let quarantine = store.directory.appending(path: "store/quarantine").path
        #expect(try FileManager.default.contentsOfDirectory(atPath: quarantine) == [finished])
        #expect(store.store.reconciliation == StoreReconciliation(removed: 2, quarantined: 1))
    }

    @Test func aCrashBetweenACommitAndTheModeLosesNothing() throws {
        let store = try TestStore()
        let client = store.client()
        let id = try client.initiate()
        _ = try client.part(1, of: id, content(10))
        _ = try client.part(1, of: id, content(20))
        let files = try store.files()
        for fileID in files { chmod(store.path(fileID), 0o200) }
        try store.restart()
        #expect(try store.files() == files)
        let modes = try DataDirectory.folders.flatMap { try store.store.data.files(inFolder: $0).map(\.isFresh) }
        #expect(modes == [false, false])
        _ = try store.client().completeAll(id)
        #expect(try store.client().get() == content(20))
    }

    @Test func removesWhatWasDiscardedBeforeACrash() throws {
        let store = try TestStore()
        _ = try store.client().put(content(10))
        // The commit came, the files were not removed any more.
        _ = try store.database.writeBlocking { [store = store.store] in
            try store.discard(uploadID: "upload-1", in: $0)
        }
        #expect(try store.files().count == 1)
        try store.restart()
        #expect(try store.files().isEmpty)
        #expect(store.store.reconciliation == StoreReconciliation(removed: 1))
        #expect(try store.database.read { try StoreRecords($0).scheduledRemovals() }.isEmpty)
    }

    @Test func marksWhatIsLost() throws {
        let store = try TestStore()
        _ = try store.client().put(content(10))
        let id = try store.client(uploadID: "upload-2").initiate()
        for fileID in try store.files() { try FileManager.default.removeItem(atPath: store.path(fileID)) }
        try store.restart()
        #expect(store.store.reconciliation == StoreReconciliation(lost: 2))
        #expect(try store.snapshot() == StoreSnapshot(multiparts: [], object: nil, isLost: true))
        #expect(try store.snapshot("upload-2") == StoreSnapshot(multiparts: [], object: nil, isLost: true))
        #expect(try store.client().send("GET").error == "404 NoSuchKey")
        #expect(try store.client(uploadID: "upload-2").part(1, of: id, [1]).error == "404 NoSuchUpload")
        // Stored again, it is there again.
        _ = try store.client().put(content(11))
        #expect(try store.client().get() == content(11))
        #expect(try store.snapshot().isLost == false)
    }

    @Test func forgetsAResentPartWhoseFileIsLost() throws {
        let store = try TestStore()
        let client = store.client()
        let id = try client.initiate()
        let place = try #require(try store.files().first)
        _ = try client.part(1, of: id, content(10))
        _ = try client.part(1, of: id, content(20))
        let own = try #require(try store.files().first { $0 != place })
        try FileManager.default.removeItem(atPath: store.path(own))
        try store.restart()
        #expect(
            try store.snapshot() == StoreSnapshot(multiparts: [.init(id: id, partCount: 0)], object: nil, isLost: false)
        )
    }

    @Test func sealsFinishedFiles() throws {
        let store = try TestStore()
        _ = try store.client().put(content(10))
        let fileID = try #require(try store.files().first)
        func isFinished() throws -> Bool? {
            try store.store.data.files(inFolder: String(fileID.prefix(2))).first { $0.fileID == fileID }?.isFinished
        }
        #expect(try isFinished() == true)
        // The crash came between the commit and the mode.
        chmod(store.path(fileID), 0o600)
        try store.restart()
        #expect(try isFinished() == true)
    }

    @Test func touchesNothingBesideAnotherDatabase() throws {
        let store = try TestStore()
        _ = try store.client().put(content(10))
        let (orphan, _) = try store.store.data.create()
        let past = Date(timeIntervalSince1970: TimeInterval(store.clock.now().seconds - 31 * 86_400))
        try FileManager.default.setAttributes([.modificationDate: past], ofItemAtPath: store.path(orphan))
        // An older backup of the database; and however often it is started.
        try change(store, "UPDATE store_identity SET generation = generation - 1")
        for _ in 0..<2 {
            try store.restart()
            #expect(store.store.reconciliation == StoreReconciliation(isForeign: true))
            #expect(try store.files().count == 2)
        }
        try change(store, "UPDATE store_identity SET generation = generation + 1")
        try store.restart()
        #expect(store.store.reconciliation == StoreReconciliation(removed: 1))
    }

    @Test func takesADiskThatIsNotMountedForNoLoss() throws {
        let store = try TestStore()
        _ = try store.client().put(content(10))
        let folder = store.directory.appending(path: "store")
        let aside = store.directory.appending(path: "aside")
        try FileManager.default.moveItem(at: folder, to: aside)
        try store.restart()
        #expect(store.store.reconciliation == StoreReconciliation(isForeign: true))
        try FileManager.default.removeItem(at: folder)
        try FileManager.default.moveItem(at: aside, to: folder)
        try store.restart()
        #expect(store.store.reconciliation == StoreReconciliation())
        #expect(try store.client().get() == content(10))
    }

    @Test(arguments: [true, false])
    func goesOnAfterACrashBetweenTheTwoNumbers(atFirstStart: Bool) throws {
        let store = try TestStore()
        let identity = store.directory.appending(path: "store/identity")
        if atFirstStart {
            try FileManager.default.removeItem(at: identity)
        } else {
            try change(store, "UPDATE store_identity SET generation = generation + 1")
        }
        try store.restart()
        #expect(store.store.reconciliation == StoreReconciliation())
    }

    @Test func findsAgainWhatWasLost() throws {
        let store = try TestStore()
        _ = try store.client().put(content(10))
        let path = try #require(try store.files().first.map(store.path))
        try FileManager.default.moveItem(atPath: path, toPath: path + "-aside")
        try store.restart()
        #expect(store.store.reconciliation == StoreReconciliation(lost: 1))
        try FileManager.default.moveItem(atPath: path + "-aside", toPath: path)
        try store.restart()
        #expect(store.store.reconciliation == StoreReconciliation())
        #expect(try store.client().get() == content(10))
    }

    @Test func dropsOtherMultipartUploads() throws {
        let store = try TestStore()
        let client = store.client()
        let ids = try (0..<3).map { _ in try client.initiate() }
        for id in ids { _ = try client.part(1, of: id, content(10)) }
        _ = try client.part(1, of: ids[0], content(12))
        _ = try client.completeAll(ids[1])
        let dropped = try store.database.writeBlocking { [store = store.store] in
            try store.dropOtherMultiparts(uploadID: "upload-1", in: $0)
        }
        store.store.removeFiles(dropped)
        #expect(try store.snapshot().multiparts.isEmpty)
        #expect(try store.files() == [store.snapshot().object?.fileID])
        #expect(try client.get() == content(10))
        #expect(try client.completeAll(ids[1]).status == 200)
    }
}
