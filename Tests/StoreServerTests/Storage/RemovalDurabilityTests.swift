import Basics
import Database
import Foundation
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import DirectoryEngine
@testable import ObjectStore

/// The changes that have to be durable before the database forgets a removal, or records a clean stop.
@Suite(.timeLimited, .onDirectory) struct RemovalDurabilityTests {
    /// The syncs of a store, which can fail.
    private final class Syncs: Sendable {
        private struct State {
            var folders: [String] = []
            var fileSystems = 0
            var isFailing = false
        }

        private let state = Lock(State())

        var folders: [String] { state.withLock { $0.folders } }
        var fileSystems: Int { state.withLock { $0.fileSystems } }

        func fail(_ isFailing: Bool) {
            state.withLock {
                $0 = State()
                $0.isFailing = isFailing
            }
        }

        private func requireWorking(_ note: (inout State) -> Void) throws(PrivateFile.Failure) {
            let isFailing = state.withLock {
                note(&$0)
                return $0.isFailing
            }
            guard isFailing else { return }
            errno = EIO
            throw .last()
        }

        var configuration: DirectoryConfiguration {
            var configuration = DirectoryConfiguration()
            configuration.calls.synchronizeFolder = { (path) throws(PrivateFile.Failure) in
                try self.requireWorking { $0.folders.append(path) }
                try PrivateFile.synchronizeFolder(path)
            }
            configuration.calls.synchronizeFileSystem = { (_) throws(PrivateFile.Failure) in
                try self.requireWorking { $0.fileSystems += 1 }
            }
            return configuration
        }
    }

    private let syncs = Syncs()

    private func scheduled(_ store: TestStore) throws -> [String] {
        try store.database.readBlocking { try StoreRecords($0).scheduledRemovals(after: "", limit: 1000) }
    }

    /// Schedules the removal of files, as a transaction that deletes their rows does.
    private func remove(_ fileIDs: [String], from store: TestStore) throws {
        try store.database.writeBlocking { [store = store.store] in try store.work.removals.schedule(fileIDs, in: $0) }
        store.store.work.removals.drain()
    }

    @Test func aRemovalIsForgottenOnceItsFoldersAreSynced() async throws {
        let store = try TestStore(files: syncs.configuration, inMemory: true)
        let new = try store.store.data.create(length: nil)
        defer { withExtendedLifetime(new) {} }
        syncs.fail(true)
        try remove([new.id], from: store)
        #expect(!FileManager.default.fileExists(atPath: store.path(new.id)))
        #expect(try scheduled(store) == [new.id])
        await #expect(throws: PrivateFile.Failure.self) { try await store.store.sweepRemovals() }
        #expect(try scheduled(store) == [new.id])
        syncs.fail(false)
        // Also if an earlier attempt, or process, has unlinked it.
        #expect(try await store.store.sweepRemovals() == 1)
        #expect(try scheduled(store).isEmpty)
        let folders = ["data", "facts"].map { "\(store.store.data.path)/\($0)/\(new.id.prefix(2))" }
        #expect(syncs.folders == folders)
    }

    @Test func manyRemovalsAreSyncedTogether() throws {
        let store = try TestStore(files: syncs.configuration, inMemory: true)
        let made = try (0..<100).map { _ in try store.store.data.create(length: nil) }
        defer { withExtendedLifetime(made) {} }
        syncs.fail(false)
        try remove(made.map(\.id), from: store)
        #expect(try scheduled(store).isEmpty)
        #expect(syncs.fileSystems == 1 && syncs.folders.isEmpty)
    }

    @Test(arguments: [true, false])
    func aStopIsCleanOnlyIfEverythingIsSynced(isFailing: Bool) throws {
        let store = try TestStore(files: syncs.configuration, inMemory: true)
        _ = try store.client().put(content(10))
        let path = try #require(try store.files().first.map(store.path))
        syncs.fail(isFailing)
        try store.restart(isClean: true) {
            #expect(syncs.fileSystems == 1)
            syncs.fail(false)
            // A power loss takes the mode back, if the stop did not sync it.
            chmod(path, 0o200)
        }
        var status = stat()
        #expect(stat(path, &status) == 0)
        // A start that compares sets it again.
        #expect(status.st_mode & 0o777 == (isFailing ? 0o400 : 0o200))
    }

    @Test func aFolderWhoseTimeWasPutBackIsCompared() throws {
        let store = try TestStore(inMemory: true)
        _ = try store.client().put(content(10))
        let path = try #require(try store.files().first.map(store.path))
        let folder = String(path.dropLast(33))
        try store.restart(isClean: true) {
            let time = try FileManager.default.attributesOfItem(atPath: folder)[.modificationDate] as? Date
            var status = stat()
            #expect(stat(folder, &status) == 0)
            try FileManager.default.removeItem(atPath: path)
            // As rsync and tar do, to the nanosecond.
            let times = [status.st_mtim, status.st_mtim]
            #expect(utimensat(AT_FDCWD, folder, times, 0) == 0)
            #expect(try FileManager.default.attributesOfItem(atPath: folder)[.modificationDate] as? Date == time)
        }
        #expect(store.store.reconciliation == StoreReconciliation(lost: 1))
        #expect(try store.client().send("GET").error == "404 NoSuchKey")
    }
}
