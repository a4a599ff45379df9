import Basics
import Database
import DatabaseTesting
import Foundation
import HTTPTestClient
import StoreTesting
import TestSupport
import Testing

@testable import DirectoryEngine
@testable import ObjectStore

@Suite(.timeLimited, .onDirectory) struct DurabilityTests {
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
        let made = try (0..<4).map { _ in try store.store.data.create(length: nil) }
        defer { withExtendedLifetime(made) {} }
        let (young, old, fresh, finished) = (made[0].id, made[1].id, made[2].id, made[3].id)
        // Two files whose rows are gone, and one whose request never committed.
        for fileID in [young, old] { store.store.data.keep(fileID) }
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
        let modes = try DirectoryEngine.folders.flatMap { try store.store.data.files(inFolder: $0).map(\.isFresh) }
        #expect(modes == [false, false])
        _ = try store.client().completeAll(id)
        #expect(try store.client().get() == content(20))
    }

    @Test func removesWhatWasDiscardedBeforeACrash() throws {
        let store = try TestStore()
        _ = try store.client().put(content(10))
        // The commit succeeded, but the files were not removed.
        try store.database.writeBlocking { try ObjectStore.discard(uploadID: "upload-1", in: $0) }
        #expect(try store.files().count == 1)
        try store.restart()
        #expect(try store.files().isEmpty)
        #expect(store.store.reconciliation == StoreReconciliation())
        #expect(
            try store.database.readBlocking { try StoreRecords($0).scheduledRemovals(after: "", limit: 100) }.isEmpty)
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
        // After another upload it exists again.
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

    @Test func partIsThereAgainOnceItsFileIs() throws {
        let store = try TestStore()
        let client = store.client()
        let id = try client.initiate()
        let place = try #require(try store.files().first)
        _ = try client.part(1, of: id, content(10))
        _ = try client.part(1, of: id, content(20))
        let own = try #require(try store.files().first { $0 != place })
        let aside = store.directory.appending(path: "aside").path
        try FileManager.default.moveItem(atPath: store.path(own), toPath: aside)
        try store.restart()
        #expect(try store.snapshot().multiparts == [.init(id: id, partCount: 0)])
        try FileManager.default.moveItem(atPath: aside, toPath: store.path(own))
        try store.restart()
        #expect(try store.snapshot().multiparts == [.init(id: id, partCount: 1)])
        #expect(try store.client().completeAll(id).status == 200)
        #expect(try store.client().get() == content(20))
    }

    @Test func folderThatCannotBeReadIsNotTakenForAnEmptyOne() throws {
        let store = try TestStore()
        _ = try store.client().put(content(10))
        let id = try store.client(uploadID: "upload-2").initiate()
        _ = try store.client(uploadID: "upload-2").part(1, of: id, content(10))
        let before = [try store.snapshot(), try store.snapshot("upload-2")]
        let folders = try Set(store.files().map { String($0.prefix(2)) })
        func path(_ folder: String) -> String { store.directory.appending(path: "store/data/\(folder)").path }
        for folder in folders {
            try FileManager.default.moveItem(atPath: path(folder), toPath: path(folder) + ".aside")
            #expect(FileManager.default.createFile(atPath: path(folder), contents: nil))
        }
        try store.restart()
        #expect(store.store.reconciliation.failureCount == folders.count)
        #expect(store.store.reconciliation.lost == 0)
        for folder in folders {
            let path = path(folder)
            #expect(store.store.reconciliation.failures.contains { $0.hasPrefix(path) })
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.moveItem(atPath: path + ".aside", toPath: path)
        }
        try store.restart()
        #expect([try store.snapshot(), try store.snapshot("upload-2")] == before)
        #expect(try store.client().get() == content(10))
    }

    /// The log is that of SQLite. Lost answers of a server are tested with the database.
    @Test(.onSQLite) func commitOfUnknownOutcomeRemovesNoFile() throws {
        let store = try TestStore()
        let client = store.client()
        _ = try client.put(content(10))
        let id = try store.client(uploadID: "upload-2").initiate()
        _ = try store.client(uploadID: "upload-2").part(1, of: id, content(10))
        let before = try store.files()
        // Each write to the log fails from here on, so that it is unknown how much of a commit is on the disk.
        let log = store.directory.appending(path: "db-wal").path
        let readOnly = open(log, O_RDONLY | O_CLOEXEC)
        defer { close(readOnly) }
        for link in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(link)")
            if target == log, let descriptor = Int32(link), descriptor != readOnly { dup2(readOnly, descriptor) }
        }
        #expect(try client.send("PUT", body: content(11)).error == "503 ServiceUnavailable")
        #expect(!store.database.isWritable)
        #expect(try store.files().count == before.count + 1)
        #expect(try client.get() == content(10))
    }

    @Test func startsThatFailAtTheIdentityDoNotPartStoreAndDatabase() throws {
        let store = try TestStore()
        _ = try store.client().put(content(10))
        // The temporary file for the new identity cannot be created.
        let fresh = store.directory.appending(path: "store/identity.\(getpid()).new").path
        try FileManager.default.createDirectory(atPath: fresh, withIntermediateDirectories: false)
        for _ in 0..<3 { #expect(throws: PrivateFile.Failure.self) { try store.restart() } }
        try FileManager.default.removeItem(atPath: fresh)
        try store.restart()
        #expect(!store.store.isForeign)
        #expect(try store.client().get() == content(10))
    }

    @Test func identityThatCannotBeReadIsAnError() throws {
        let store = try TestStore()
        let identity = store.directory.appending(path: "store/identity").path
        try FileManager.default.removeItem(atPath: identity)
        try FileManager.default.createDirectory(atPath: identity, withIntermediateDirectories: false)
        #expect(throws: PrivateFile.Failure.self) { try store.restart() }
    }

    @Test func sealsFinishedFiles() throws {
        let store = try TestStore()
        _ = try store.client().put(content(10))
        let fileID = try #require(try store.files().first)
        func isFinished() throws -> Bool? {
            try store.store.data.files(inFolder: String(fileID.prefix(2))).first { $0.fileID == fileID }?.isFinished
        }
        #expect(try isFinished() == true)
        // The crash came between the commit and the change of mode.
        chmod(store.path(fileID), 0o600)
        try store.restart()
        #expect(try isFinished() == true)
    }

    @Test func touchesNothingBesideAnotherDatabase() throws {
        let store = try TestStore()
        _ = try store.client().put(content(10))
        let new = try store.store.data.create(length: nil)
        defer { withExtendedLifetime(new) {} }
        let orphan = new.id
        let past = Date(timeIntervalSince1970: TimeInterval(store.clock.now().seconds - 31 * 86_400))
        try FileManager.default.setAttributes([.modificationDate: past], ofItemAtPath: store.path(orphan))
        // An older backup of the database, started several times.
        try change(store, "UPDATE store_identity SET generation = generation - 1")
        for _ in 0..<2 {
            try store.restart()
            #expect(store.store.isForeign)
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
        #expect(store.store.isForeign)
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
        try store.database.writeBlocking { [store = store.store] in
            try store.dropOtherMultiparts(uploadID: "upload-1", in: $0)
        }
        #expect(try store.snapshot().multiparts.isEmpty)
        #expect(try store.files() == [store.snapshot().object?.fileID])
        #expect(try client.get() == content(10))
        #expect(try client.completeAll(ids[1]).status == 200)
    }
}
