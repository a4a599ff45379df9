import Accounts
import Basics
import Crypto
import Database
import ObjectStore
package import Proto
package import RPC
package import Wire

/// The gRPC service BackupService, which streams an archive of the whole gateway while it runs.
package final class BackupService: BackupServiceHandler {
    private let session: ArchiveSession
    private let turn: BackupTurn
    private let metrics: BackupMetrics

    /// - Parameters:
    ///   - turn: shared with everything else that takes backups.
    ///   - metrics: notes complete backups.
    package init(_ session: ArchiveSession, turn: BackupTurn, metrics: BackupMetrics) {
        self.session = session
        self.metrics = metrics
        self.turn = turn
    }

    package func backup(
        _ request: BackupRequest, responses: ResponseWriter<BackupChunk>, context: CallContext
    ) async throws {
        let caller = try Caller(context)
        let isDone: Void? = try await turn.run { try await stream(request, by: caller, to: responses) }
        if isDone == nil { throw RPCError(bare: .failedPrecondition, "another backup is running") }
    }

    private func stream(
        _ request: BackupRequest, by caller: Caller, to responses: ResponseWriter<BackupChunk>
    ) async throws {
        let now = session.clock.now()
        try await session.database.write { try Audit.record(caller.did(to: "backup"), at: now, in: $0) }
        let summary = try await session.stream(includingObjects: !request.withoutObjects, at: now) { bytes in
            try await responses.write(BackupChunk(data: bytes))
        }
        try await responses.write(BackupChunk(summary: BackupSummary(summary)))
        guard !request.withoutObjects else { return }
        let end = session.clock.now()
        try await session.database.write { try BackupRecords($0).noteManual(at: end) }
        metrics.noteManual(end)
    }
}

extension BackupSummary {
    fileprivate init(_ summary: BackupRun.Summary) {
        self.init(
            objects: Int64(summary.objects), bytes: summary.bytes, missingObjects: Int64(summary.missing),
            damagedObjects: Int64(summary.damaged.count), damagedFileIDs: summary.damaged.first)
    }
}
