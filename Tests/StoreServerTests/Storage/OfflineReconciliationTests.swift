import Basics
import Database
import Foundation
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import DirectoryEngine
@testable import ObjectStore

/// A store beside a database that is older than its files, as after a restore.
@Suite(.timeLimited, .onDirectory) struct OfflineReconciliationTests {
    private func offline(_ store: TestStore) -> OfflineStore { OfflineStore(directory: store.store.data.path) }

    private func change(_ store: TestStore, _ sql: String) throws {
        try store.database.writeBlocking { _ = try $0.execute(sql) }
    }

    private func quarantined(_ store: TestStore) throws -> [String] {
        try store.store.data.quarantined().map(\.fileID).sorted()
    }

    /// Only the older database's rows remain: the file of an object looks like that of a request without a commit, because a power
    /// loss took its mark back.
    @Test(arguments: [true, false])
    func anUnmarkedFileStaysOnlyIfAllMarksAreKnown(marksAreComplete: Bool) throws {
        let store = try TestStore(inMemory: true)
        _ = try store.client().put(content(10))
        let fileID = try #require(try store.files().first)
        try store.restart(isClean: true) {
            chmod(store.path(fileID), 0o200)
            try change(store, "DELETE FROM store_objects")
            let count = try offline(store).reconcile(store.database, marksAreComplete: marksAreComplete) { _, _ in true
            }
            #expect(count == (marksAreComplete ? 0 : 1))
        }
        #expect(try quarantined(store) == (marksAreComplete ? [] : [fileID]))
        #expect(try store.files().isEmpty)
    }

    @Test func theDatabaseOfTheStoreMarksTheFilesOfItsObjects() throws {
        let store = try TestStore(inMemory: true)
        _ = try store.client().put(content(10))
        let fileID = try #require(try store.files().first)
        let unfinished = try store.store.data.create(length: nil)
        defer { withExtendedLifetime(unfinished) {} }
        try store.restart {
            chmod(store.path(fileID), 0o200)
            #expect(try store.database.readBlocking { try offline(store).seal(objectsOf: $0) })
            try change(store, "DELETE FROM store_objects")
            #expect(try offline(store).reconcile(store.database, marksAreComplete: true) { _, _ in true } == 1)
        }
        #expect(try quarantined(store) == [fileID])
        #expect(store.store.reconciliation == StoreReconciliation(removed: 1))
    }

    @Test func anotherDatabaseMarksNothing() throws {
        let store = try TestStore(inMemory: true)
        _ = try store.client().put(content(10))
        let path = try #require(try store.files().first.map(store.path))
        try store.restart {
            chmod(path, 0o200)
            try change(store, "UPDATE store_identity SET generation = generation - 1")
            #expect(try !store.database.readBlocking { try offline(store).seal(objectsOf: $0) })
        }
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o200)
    }

    @Test func aFileWhoseRemovalIsScheduledStaysForIt() throws {
        let store = try TestStore(inMemory: true)
        _ = try store.client().put(content(10))
        let fileID = try #require(try store.files().first)
        try store.restart(isClean: true) {
            try change(store, "DELETE FROM store_objects")
            try change(store, "INSERT INTO store_removals (file_id) VALUES ('\(fileID)')")
            var findings: [StoreFinding] = []
            try store.database.readBlocking { connection in
                try offline(store).compare(with: connection, checksums: false) { findings.append($0) }
            }
            #expect(findings == [.scheduled(fileID: fileID, size: 10)])
            #expect(try offline(store).reconcile(store.database, marksAreComplete: false) { _, _ in true } == 0)
        }
        #expect(try store.files().isEmpty && quarantined(store).isEmpty)
        #expect(store.store.reconciliation == StoreReconciliation())
    }

    @Test func aDeletionFromQuarantineIsDurable() throws {
        let synced = Lock<[String]>([])
        let store = try TestStore(inMemory: true)
        _ = try store.client().put(content(10))
        let fileID = try #require(try store.files().first)
        try store.store.data.quarantine(fileID)
        var calls = FileCalls()
        calls.synchronizeFolder = { (path) throws(PrivateFile.Failure) in synced.withLock { $0.append(path) } }
        let data = store.store.data.path
        #expect(try OfflineStore(directory: data, calls: calls).deleteQuarantined(fileID))
        #expect(synced.withLock { $0 } == ["\(data)/quarantine", "\(data)/facts/\(fileID.prefix(2))"])
    }
}
