import Accounts
import Basics
import Crypto
import Database
import Foundation
import ObjectStore
import Proto
import RPC
import Wire

/// The gRPC service BackupService, which streams an archive of the whole gateway while it runs.
package final class BackupService: BackupServiceHandler {
    private let directory: DataDirectory
    private let database: Database
    private let store: ObjectStore
    private let clock: any WallClock
    private let isRunning = Lock(false)

    package init(directory: DataDirectory, database: Database, store: ObjectStore, clock: any WallClock) {
        self.directory = directory
        self.database = database
        self.store = store
        self.clock = clock
    }

    package func backup(
        _ request: BackupRequest, responses: ResponseWriter<BackupChunk>, context: CallContext
    ) async throws {
        let caller = try Caller(context)
        let isFirst = isRunning.withLock { isRunning in
            defer { isRunning = true }
            return !isRunning
        }
        guard isFirst else { throw RPCError(bare: .failedPrecondition, "another backup is running") }
        defer { isRunning.withLock { $0 = false } }
        let now = clock.now()
        try await database.write { try Audit.record(caller.did(to: "backup"), at: now, in: $0) }
        try await store.keepingFiles {
            let copy = try newCopy()
            defer { try? FileManager.default.removeItem(atPath: copy) }
            try await database.copy(to: copy)
            let run = BackupRun(
                copy: copy, keys: directory.keys, store: store, includesObjects: !request.withoutObjects, now: now)
            try await send(run, to: responses)
        }
    }

    private func send(_ run: BackupRun, to responses: ResponseWriter<BackupChunk>) async throws {
        let pipe = ChunkPipe()
        Thread.detachNewThread { pipe.finish(Result { try run.write(to: pipe) }) }
        do {
            while true {
                switch try await pipe.next() {
                case .chunk(let bytes): try await responses.write(BackupChunk(data: bytes))
                case .end(let summary): return try await responses.write(BackupChunk(summary: BackupSummary(summary)))
                }
            }
        } catch {
            // The thread reads files that may be removed once it has ended.
            await pipe.cancel()
            throw error
        }
    }

    private func newCopy() throws -> String {
        do throws(PrivateFile.Failure) {
            try PrivateFile.makeFolder(directory.copies)
        } catch {
            throw DataDirectory.Problem(description: "cannot create \(directory.copies): \(error.reason)")
        }
        return "\(directory.copies)/\(Hex.lower(Random.bytes(8))).db"
    }
}

extension BackupSummary {
    fileprivate init(_ summary: BackupRun.Summary) {
        self.init(
            objects: Int64(summary.objects), bytes: summary.bytes, missingObjects: Int64(summary.missing),
            damagedObjects: Int64(summary.damaged.count), damagedFileIDs: summary.damaged.first)
    }
}
