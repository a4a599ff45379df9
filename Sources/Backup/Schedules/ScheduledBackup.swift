import Accounts
import Basics
import Crypto
import Database
import ObjectStore
import Synchronization
import Webhooks

/// The steps of a scheduled backup.
struct ScheduledBackup: Sendable {
    let session: ArchiveSession
    let outbox: Outbox
    let migrations: [Migration]

    /// Writes the archive; leaves nothing of it after an error.
    func write(_ run: ScheduledRun, of schedule: BackupSchedule) async throws -> ScheduledRun.Result {
        let upload = Lock<(any ArchiveUpload)?>(nil)
        var size: Int64 = 0
        do {
            let summary = try await session.stream(includingObjects: schedule.includesObjects, at: run.startedAt) {
                let begun = try await schedule.destination.begin(run.archive, try plan(run, of: schedule, copy: $0))
                upload.withLock { $0 = begun }
            } seal: { [passphrase = schedule.passphrase] sink in
                guard let passphrase else { return (sink, {}) }
                let sealed = try SealedSink(sink, passphrase: passphrase)
                return (sealed, { try sealed.finish() })
            } receive: { bytes in
                try Task.checkCancellation()
                size += Int64(bytes.count)
                try await upload.withLock { $0 }?.receive(bytes)
            }
            try await upload.withLock { $0 }?.finish()
            return ScheduledRun.Result(
                size: size, objects: summary.objects,
                lostObjects: schedule.includesObjects ? summary.missing + summary.damaged.count : 0)
        } catch {
            await upload.withLock { $0 }?.abandon()
            throw error
        }
    }

    private func plan(_ run: ScheduledRun, of schedule: BackupSchedule, copy: String) throws -> ArchivePlan {
        var size = try PrivateFile.size(of: copy)
        if schedule.includesObjects {
            size += try Database.inspect(path: copy) { try StoredFile.bytes(in: $0) }
        }
        return ArchivePlan(
            expectedBytes: size, reservedBytes: session.store.minimumFreeBytes, scratch: try session.makeScratch()
        ) { [session] multipartID in
            try await session.database.write { try BackupRecords($0).setMultipartID(multipartID, of: run.id) }
        }
    }

    /// Reads a complete archive again. One that is not what was written is removed.
    func verify(_ run: ScheduledRun, of schedule: BackupSchedule) async throws {
        do {
            _ = try await examine(run, of: schedule)
        } catch {
            if !Task.isCancelled { try? await schedule.destination.remove(run.archive) }
            throw error
        }
    }

    /// Reads a complete archive.
    func examine(_ run: ScheduledRun, of schedule: BackupSchedule) async throws -> ArchiveVerification.Outcome {
        let stop = StoppableSource.Stop()
        let scratch = try session.makeScratch()
        return try await withTaskCancellationHandler {
            // It reads from the destination for as long as that takes.
            try await Worker.thread("backup-examination").run { [migrations] in
                let source = try ArchiveFile.open(passphrase: schedule.passphrase) {
                    StoppableSource(try schedule.destination.source(of: run.archive), until: stop)
                }
                return try ArchiveVerification.run(of: source, scratch: scratch, migrations: migrations)
            }
        } onCancel: {
            stop.set()
        }
    }

    /// Records the end of a run, with an audit line and an event.
    func end(
        _ run: ScheduledRun, of schedule: BackupSchedule, reason: String? = nil, isReported: Bool = true
    ) async throws {
        let now = session.clock.now()
        try await session.database.write(mayUseReserve: true) { [outbox] connection in
            try BackupRecords(connection).end(run, reason: reason ?? "", of: schedule.name)
            guard isReported else { return }
            var entry = AuditEntry.byGateway("ScheduledBackup", on: "backups/\(schedule.name)")
            entry.ids = [run.archive]
            if reason != nil { entry.result = "INTERNAL" }
            try Audit.record(entry, at: now, in: connection)
            guard let system = try Accounts.organization(named: "system", in: connection) else { return }
            try outbox.record(
                .backupEnded(run, of: schedule, reason: reason, organizationID: system.id), organization: system,
                at: now, in: connection)
        }
    }
}

/// A backup of a schedule: one that is in progress, or its result.
struct ScheduledRun: Sendable, Equatable {
    enum State: Int64, Sendable {
        case running = 1
        /// Complete, and kept at the destination.
        case kept = 2
        /// Complete, and removed by the rotation.
        case removed = 3
        case failed = 4
    }

    let id: Int64
    /// The name of the archive at the destination.
    let archive: String
    var state = State.running
    let startedAt: UnixTime
    var multipartID: String?
    var result = Result()

    /// The result of a complete run.
    struct Result: Sendable, Equatable {
        var finishedAt: UnixTime?
        var duration: Duration = .zero
        /// The size of the archive in bytes.
        var size: Int64 = 0
        var objects = 0
        /// The number of objects that are not intact in the archive.
        var lostObjects = 0
    }
}

/// The contents of webhook events about scheduled backups. The names are a public format: new fields are optional, existing ones
/// stay.
extension Event {
    private struct EndedBackup: Encodable {
        let schedule: String
        let archive: String
        /// The name of the destination.
        let destination: String
        /// The size in bytes.
        let sizeBytes: Int64
        let objects: Int
        /// The number of objects that are not intact in the archive.
        let lostObjects: Int
        /// The reason of a failure.
        let reason: String?
    }

    static func backupEnded(
        _ run: ScheduledRun, of schedule: BackupSchedule, reason: String?, organizationID: Int64
    ) -> Event {
        Event(
            reason == nil ? .backupCompleted : .backupFailed, subject: "backups/\(schedule.name)",
            organizationID: organizationID,
            data: EndedBackup(
                schedule: schedule.name, archive: run.archive, destination: schedule.destination.name,
                sizeBytes: run.result.size, objects: run.result.objects, lostObjects: run.result.lostObjects,
                reason: reason))
    }
}
