import Basics
import Catalog
import Database
import HTTPClient
import ObjectStore

/// One worker's attempt to copy one item, from its claim to its result.
struct CopyAttempt: Sendable {
    /// The job at the time when the worker took the item.
    let job: CopyJob
    let item: CopyItem
    /// The route; `nil` if the configuration does not list the destination, or not for the organization.
    let route: CopyRoute?
    let database: Database
    let store: ObjectStore
    let clock: any WallClock
    /// See ``CopyJobsConfiguration/retryDuration``.
    let retryDuration: Duration
    let metrics: CopyMetrics
    /// The end of the claim on the item by this process's clock, unless it is renewed.
    let end: ContinuousClock.Instant

    /// - Throws: an error of the database, after which only the beginning of the attempt is recorded; ``CopyClaimLost``.
    func run() async throws {
        guard try await !isCanceled() else { return try await end(as: .canceled) }
        do {
            let state = try await copy()
            try await end(as: state)
        } catch let lost as CopyClaimLost {
            throw lost
        } catch {
            if try await isCanceled() { return try await end(as: .canceled) }
            // The gateway is shutting down; the next start continues.
            if Task.isCancelled { return }
            try await fail(CopyFailure(error))
        }
    }

    // MARK: Copying

    private func copy() async throws -> CopyItemState {
        guard let route else {
            throw CopyFailure(
                .destinationNotConfigured, "the gateway's configuration no longer lists the destination", .permanent)
        }
        if let objection = route.objection(to: item.key) {
            throw CopyFailure(.destinationNotConfigured, objection, .permanent)
        }
        let writer = route.writer
        let source = try await source()
        let path = writer.path(of: item.key)
        let isOwn = try await claim(path)
        for isLast in [false, true] {
            let found = try await writer.found(item, source)
            do {
                switch found {
                case .same where item.attempts == 1: return .skipped
                // An earlier attempt of this job sent it without receiving the response.
                case .same: try await progress.reached(source.size)
                case .another where !isOwn: throw CopyFailure.occupied
                case .nothing, .another, .unknown:
                    try await writer.write(item, source, over: found, replaces: isOwn, progress)
                }
                break
            } catch let failure as CopyFailure where failure == .occupied && found == .nothing && !isLast {
                // Another job was faster, and may have written the same content.
            }
        }
        try await database.write { connection in
            let records = CopyRecords(connection)
            _ = try records.claimed(item)
            try records.noteWritten(path, organizationID: job.organizationID, fileID: item.fileID)
        }
        return .succeeded
    }

    /// Claims the path, so that no other organization writes it.
    ///
    /// - Returns: whether this organization has written the existing content.
    private func claim(_ path: String) async throws -> Bool {
        let claim = try await database.write { connection in
            let records = CopyRecords(connection)
            _ = try records.claimed(item)
            return try records.claim(path, organizationID: job.organizationID, fileID: item.fileID)
        }
        guard claim.organizationID == job.organizationID else { throw CopyFailure.occupied }
        // A name is not meant to replace the copy of another file, as a key without one may be.
        guard claim.fileID == item.fileID || !job.template.hasNames else { throw CopyFailure.occupied }
        return claim.isWritten
    }

    private var progress: CopyProgress {
        CopyProgress { bytes in
            let fresh = try await record { item in
                let fresh = max(0, bytes - item.copiedBytes)
                guard fresh > 0 else { return fresh }
                item.copiedBytes = bytes
                item.failures = 0
                item.firstFailureAt = nil
                return fresh
            }
            metrics.update { $0.bytes += Int(fresh) }
        } began: { multipart in
            try await record { $0.multipart = multipart }
        }
    }

    private func source() async throws -> CopySource {
        let (object, stored) = try await database.read { connection in
            (
                try ObjectRecords(connection).object(uploadID: item.uploadID),
                try store.object(uploadID: item.uploadID, in: connection)
            )
        }
        guard let object else { throw CopyFailure(.sourceNotFound, "the object was deleted", .permanent) }
        guard object.trashedAt == nil else {
            throw CopyFailure(.sourceNotFound, "the object is in the trash", .permanent)
        }
        guard let stored, !object.isBad else {
            throw CopyFailure(
                .sourceDamaged, "the object is corrupted: its bytes no longer match its checksum", .permanent)
        }
        return CopySource(
            bytes: try ObjectBytes(store.bytes(of: stored.fileID)), size: stored.size, crc64: stored.crc64)
    }

    /// Records a change of the item; it is durable on return.
    ///
    /// - Throws: `CancellationError` if the job was canceled; ``CopyClaimLost``.
    private func record<Result: Sendable>(
        _ change: @escaping @Sendable (inout CopyItem) -> Result
    ) async throws -> Result {
        let result = try await database.write { connection -> Result? in
            let records = CopyRecords(connection)
            guard var item = try records.claimed(item) else { return nil }
            let result = change(&item)
            try records.update(item)
            return try records.job(job.id, scope: nil)?.state == .canceling ? nil : result
        }
        guard let result else { throw CancellationError() }
        return result
    }

    // MARK: Result

    private func isCanceled() async throws -> Bool {
        // A job that was deleted with its organization counts as canceled.
        try await database.read { try CopyRecords($0).job(job.id, scope: nil)?.state ?? .canceling } == .canceling
    }

    private func end(as state: CopyItemState, _ failure: CopyFailure? = nil) async throws {
        if state == .canceled || state == .failed { try await clear() }
        let path = state == .succeeded ? nil : route?.writer.path(of: item.key)
        let now = clock.now()
        let jobEnd = try await database.write { connection -> CopyJobState? in
            let records = CopyRecords(connection)
            guard var item = try records.claimed(item) else { return nil }
            item.state = state
            item.claim.until = UnixTime(microseconds: 0)
            item.errorCode = failure?.code.rawValue ?? ""
            item.errorMessage = failure?.message ?? ""
            try records.update(item)
            if let path { try records.release(path, organizationID: job.organizationID, fileID: item.fileID) }
            guard var job = try records.job(job.id, scope: nil) else { return nil }
            let end = job.update(try records.tally(of: job.id), at: now)
            try records.update(job)
            return end
        }
        metrics.update { counts in
            counts.items[state, default: 0] += 1
            if let jobEnd { counts.jobs[jobEnd, default: 0] += 1 }
        }
    }

    /// Returns the item to the queue if the failure is transient and the time for retries is not over; otherwise the item has
    /// failed.
    private func fail(_ failure: CopyFailure) async throws {
        let now = clock.now()
        let random = Double.random(in: 0...1)
        let isQueued = try await database.write { connection in
            let records = CopyRecords(connection)
            guard var item = try records.claimed(item) else { return true }
            let first = item.firstFailureAt ?? now
            item.failures += 1
            item.firstFailureAt = first
            guard failure.failureKind != .permanent,
                let delay = policy.delay(
                    failures: item.failures, elapsed: now.duration(since: first), least: nil, random: random)
            else { return false }
            item.state = .queued
            item.errorCode = failure.code.rawValue
            item.errorMessage = failure.message
            try records.update(item, due: now.adding(delay))
            return true
        }
        guard isQueued else { return try await end(as: .failed, failure) }
        metrics.update { $0.retries += 1 }
    }

    private var policy: RetryPolicy {
        var policy = RetryPolicy(retryDuration: retryDuration)
        policy.attempts = 1
        return policy
    }

    /// Removes what attempts left at the destination. If that fails, it stays there.
    ///
    /// - Throws: ``CopyClaimLost``: another worker continues with it.
    private func clear() async throws {
        guard let writer = route?.writer else { return }
        var begun: CopyItem?
        do {
            begun = try await database.read { try CopyRecords($0).claimed(item) }
        } catch let lost as CopyClaimLost {
            throw lost
        } catch {}
        // In a task of its own, because this one may have been cancelled.
        await Task { [begun] in try? await writer.abandon(begun ?? item) }.value
    }
}
