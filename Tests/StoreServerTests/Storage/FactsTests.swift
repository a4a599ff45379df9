import Basics
import Database
import Foundation
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import DirectoryEngine
@testable import ObjectStore

/// The facts beside a completed upload's file, and the removals that they prevent.
@Suite(.timeLimited, .onDirectory) struct FactsTests {
    let store: TestStore

    init() throws {
        store = try TestStore(inMemory: true)
    }

    private func change(_ store: TestStore, _ sql: String) throws {
        try store.database.writeBlocking { _ = try $0.execute(sql) }
    }

    private func describedFile() async throws -> String {
        _ = try store.client().put(content(10))
        let fileID = try #require(try store.files().first)
        try await store.store.describe(fileID, Array("facts".utf8))
        return fileID
    }

    @Test func areWrittenOnceAndGoWithTheFile() async throws {
        let fileID = try await describedFile()
        try await store.store.describe(fileID, Array("others".utf8))
        #expect(store.store.facts(of: fileID) == Array("facts".utf8))
        try store.database.writeBlocking { [store = store.store] in
            try store.discard(uploadID: "upload-1", in: $0)
        }
        #expect(try store.files().isEmpty)
        #expect(store.store.facts(of: fileID) == nil)
    }

    @Test func tellAFinishedFileWhoseModeWasLost() async throws {
        let fileID = try await describedFile()
        chmod(store.path(fileID), 0o600)
        try change(store, "DELETE FROM store_objects")
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 0)], ofItemAtPath: store.path(fileID))
        try store.restart()
        #expect(store.store.reconciliation == StoreReconciliation(quarantined: 1))
        #expect(store.store.facts(of: fileID) == Array("facts".utf8))
    }

    @Test func stayWithAFileInQuarantine() async throws {
        let fileID = try await describedFile()
        try store.store.data.quarantine(fileID)
        // The older database still has the upload, and its client aborts it.
        try store.store.data.remove(fileID)
        #expect(store.store.facts(of: fileID) != nil)
        #expect(try store.store.data.removeQuarantined(fileID))
        #expect(store.store.facts(of: fileID) == nil)
        #expect(try store.store.data.removeQuarantined(fileID) == false)
    }

    @Test func quarantineKeepsEveryCopy() async throws {
        let fileID = try await describedFile()
        let data = store.store.data
        try data.quarantine(fileID)
        try Data("another".utf8).write(to: URL(filePath: store.path(fileID)))
        try data.quarantine(fileID)
        let kept = try FileManager.default.contentsOfDirectory(atPath: data.quarantinePath)
        #expect(kept.count == 2)
        #expect(try data.quarantined().map(\.size) == [7])
    }

    @Test func nothingIsRemovedBesideAnOlderDatabase() async throws {
        let fileID = try await describedFile()
        try change(store, "UPDATE store_identity SET generation = generation - 1")
        try store.restart()
        try store.database.writeBlocking { [store = store.store] in
            try store.discard(uploadID: "upload-1", in: $0)
        }
        #expect(try store.files() == [fileID])
    }

    @Test func aFinishedFileIsNeverWrittenAgain() async throws {
        let fileID = try await describedFile()
        #expect(throws: StorageFailure.missing) { try store.store.data.open(fileID, for: .writing) }
    }

    @Test func noFileGoesWhileSomebodyKeepsThem() async throws {
        let fileID = try await describedFile()
        try await store.store.keepingFiles {
            try store.database.writeBlocking { [store = store.store] in
                try store.discard(uploadID: "upload-1", in: $0)
            }
            #expect(try store.files() == [fileID])
        }
        #expect(try await store.store.sweepRemovals() == 1)
        #expect(try store.files().isEmpty)
        let waiting = try store.database.readBlocking { try StoreRecords($0).scheduledRemovals(after: "", limit: 100) }
        #expect(waiting.isEmpty)
    }

    /// A process may be killed after facts were renamed and before the folder is synced: a repeated CompleteUpload must not succeed
    /// before they are durable.
    @Test func thoseOfAnEarlierProcessAreMadeDurable() async throws {
        let synced = Lock<[String]>([])
        var files = DirectoryConfiguration()
        files.calls.synchronizeFolder = { (path) throws(PrivateFile.Failure) in
            synced.withLock { $0.append(path) }
            try PrivateFile.synchronizeFolder(path)
        }
        let store = try TestStore(files: files, inMemory: true)
        _ = try store.client().put(content(10))
        let fileID = try #require(try store.files().first)
        let path = store.store.data.factsPath(of: fileID)
        try Data("facts".utf8).write(to: URL(filePath: path))
        synced.withLock { $0 = [] }
        try await store.store.describe(fileID, Array("facts".utf8))
        #expect(synced.withLock { $0 } == [String(path.dropLast(33))])
    }

    @Test func unsyncedFactsAreNotAcknowledged() async throws {
        var files = DirectoryConfiguration()
        files.calls.synchronizeFolder = { (_) throws(PrivateFile.Failure) in
            errno = EIO
            throw PrivateFile.Failure.last()
        }
        let store = try TestStore(files: files, inMemory: true)
        _ = try store.client().put(content(10))
        let fileID = try #require(try store.files().first)
        try Data("facts".utf8).write(to: URL(filePath: store.store.data.factsPath(of: fileID)))
        await #expect(throws: ObjectStore.Unwritable.self) {
            try await store.store.describe(fileID, Array("facts".utf8))
        }
    }

    @Test func unfinishedOnesAreRemovedAtTheStart() async throws {
        let fileID = try await describedFile()
        let path = store.store.data.factsPath(of: fileID)
        let folder = URL(filePath: path).deletingLastPathComponent().path
        for name in ["\(fileID).1234.new", "\(fileID).1.new", "note.new"] {
            #expect(FileManager.default.createFile(atPath: "\(folder)/\(name)", contents: Data("half".utf8)))
        }
        try store.restart()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == [fileID, "note.new"])
        #expect(store.store.facts(of: fileID) == Array("facts".utf8))
    }
}
