import Accounts
import Basics
import Database
import ObjectStore

/// Reads every object again, oldest first, at a limited rate, and marks those whose bytes no longer match their checksum. It also
/// removes the mark from an object that is intact again because its file was replaced.
///
/// Its position is saved from time to time, so that little is repeated after a restart.
struct Scrubber: Sendable {
    /// The numbers of bytes and of objects after which the position is saved.
    private static let bytesBetweenSaves: Int64 = 64 << 20
    private static let objectsBetweenSaves = 1000
    /// The number of consecutive failures after which a pass pauses, because they are then not specific to an object but to the
    /// disk or the process.
    private static let longestRunOfFailures = 10
    /// The longest pause before checking again whether the next pass is due, because clocks and configurations change; also the
    /// pause after failures.
    private static let longestPause = Duration.seconds(60)

    let database: Database
    let store: ObjectStore
    let clock: any WallClock
    let configuration: CatalogConfiguration
    let log: Logger
    let metrics = ScrubMetrics()
    /// Sleeps; throws if the task is cancelled.
    var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    /// Runs passes one after the other; returns when its task is cancelled.
    func run() async {
        while !Task.isCancelled {
            var pause = Self.longestPause
            do {
                if configuration.scrubRate.value > 0 { try await pass() }
                pause = min(pause, configuration.scrubInterval.value)
            } catch is CancellationError {
                return
            } catch {
                noteFailure(error)
            }
            try? await sleep(pause)
        }
    }

    /// Runs one pass, or the rest of an interrupted one; does nothing before it is due.
    func pass() async throws {
        let now = clock.now()
        let (last, bad) = try await database.read { (try ScrubRecords($0).state(), try countBad(in: $0)) }
        metrics.update { $0.bad = bad }
        var state = last ?? ScrubState(position: 0, startedAt: now)
        if state.position == 0, let last {
            guard last.startedAt.adding(configuration.scrubInterval.value) <= now else { return }
            state.startedAt = now
        }
        var saved = state.position
        do {
            try await advance(&state, &saved)
            try await examineDirectObjects()
        } catch {
            // If this fails too, the next start repeats a little more.
            if state.position != saved { try? await save(state) }
            throw error
        }
        try await save(ScrubState(position: 0, startedAt: state.startedAt))
        metrics.update { $0.passes += 1 }
    }

    private func advance(_ state: inout ScrubState, _ saved: inout Int64) async throws {
        var (bytes, objects, failures) = (Int64(0), 0, 0)
        while let next = try await database.read({ [state] in try ScrubRecords($0).next(after: state.position) }) {
            let failure = try await examine(next.object)
            state.position = next.position
            failures = failure == nil ? 0 : failures + 1
            if let failure {
                if failures == Self.longestRunOfFailures { throw failure }
                noteFailure(failure)
            }
            bytes += next.object.content.size
            objects += 1
            if bytes >= Self.bytesBetweenSaves || objects >= Self.objectsBetweenSaves {
                try await save(state)
                (saved, bytes, objects) = (state.position, 0, 0)
            }
        }
    }

    /// Checks the objects of static keys, which the catalog does not list. After an interruption this begins again.
    private func examineDirectObjects() async throws {
        var last = ""
        while true {
            let page = try await store.directObjects(after: last, limit: 100)
            guard let end = page.last else { return }
            for object in page { try await examine(object) }
            last = end.uploadID
        }
    }

    private func examine(_ object: DirectObjectState) async throws {
        let condition: ObjectCondition
        do {
            condition = try await store.examine(uploadID: object.uploadID) { bytes in
                try await wait(for: bytes)
                metrics.update { $0.bytes += bytes }
            }
        } catch let error where !(error is CancellationError || error is DatabaseError) {
            noteFailure(error)
            return
        }
        metrics.update { $0.objects += 1 }
        switch condition {
        case .intact: if object.isBad { try await mark(object, because: nil) }
        case .bad(let trouble): if !object.isBad { try await mark(object, because: trouble) }
        case .deleted: break
        }
    }

    /// - Parameter trouble: `nil` = the object is intact again.
    private func mark(_ object: DirectObjectState, because trouble: String?) async throws {
        let now = clock.now()
        let bad = try await database.write { connection in
            try store.markBad(object.uploadID, at: trouble == nil ? nil : now, in: connection)
            try Audit.record(
                .byGateway(trouble == nil ? "MarkVerified" : "MarkBad", on: object.name), at: now, in: connection)
            return try countBad(in: connection)
        }
        metrics.update { $0.bad = bad }
        log.write(
            trouble == nil ? "object is intact again" : "object is corrupted",
            ["object": object.name, "why": trouble ?? ""], level: trouble == nil ? .info : .error)
    }

    private func countBad(in connection: ReadConnection) throws -> Int {
        try ScrubRecords(connection).countBad() + store.countBadDirectObjects(in: connection)
    }

    /// - Returns: the reason why the object could not be verified, which skips it in this pass; `nil` if it was verified.
    /// - Throws: `CancellationError`, and errors of the database, which do not concern the object.
    private func examine(_ object: CatalogObject) async throws -> ScrubFailure? {
        let condition: ObjectCondition
        do {
            condition = try await store.examine(uploadID: object.uploadID) { bytes in
                try await wait(for: bytes)
                metrics.update { $0.bytes += bytes }
            }
        } catch let error where !(error is CancellationError || error is DatabaseError) {
            return ScrubFailure(fileID: object.fileID, cause: error)
        }
        metrics.update { $0.objects += 1 }
        switch condition {
        case .intact: if object.isBad { try await mark(object, because: nil) }
        case .bad(let trouble): if !object.isBad { try await mark(object, because: trouble) }
        case .deleted: break
        }
        return nil
    }

    /// Sleeps to hold the configured rate; a rate of 0 pauses scrubbing until it changes.
    private func wait(for bytes: Int) async throws {
        var rate = configuration.scrubRate.value
        while rate == 0 {
            try await sleep(Self.longestPause)
            rate = configuration.scrubRate.value
        }
        try await sleep(.nanoseconds(Int64(Double(bytes) / Double(rate) * 1e9)))
        try Task.checkCancellation()
    }

    /// - Parameter trouble: the damage; `nil` = the object is intact again.
    private func mark(_ object: CatalogObject, because trouble: String?) async throws {
        let now = clock.now()
        let (hasChanged, bad) = try await database.write { connection in
            let records = ScrubRecords(connection)
            let hasChanged = try records.mark(object, isBad: trouble != nil, at: now)
            if hasChanged {
                var entry = AuditEntry.byGateway(
                    trouble == nil ? "MarkVerified" : "MarkBad", on: "objects/\(object.fileID)")
                entry.organization = try Accounts.organization(object.owner.organizationID, in: connection)
                try Audit.record(entry, at: now, in: connection)
            }
            return (hasChanged, try countBad(in: connection))
        }
        metrics.update { $0.bad = bad }
        if hasChanged {
            log.write(
                trouble == nil ? "object is intact again" : "object is corrupted",
                ["file_id": object.fileID, "why": trouble ?? ""], level: trouble == nil ? .info : .error)
        }
    }

    /// Counts and logs a failed pass; it is retried after a while.
    private func noteFailure(_ error: any Error) {
        metrics.update { $0.failures += 1 }
        log.write("the scrubber failed", ["error": "\(error)"], level: .error)
    }

    private func save(_ state: ScrubState) async throws {
        try await database.write { try ScrubRecords($0).setState(state) }
    }
}

/// The reason why the scrubber could not verify an object.
struct ScrubFailure: Error, CustomStringConvertible {
    let fileID: String
    let cause: any Error

    var description: String { "the object \(fileID) was skipped: \(cause)" }
}
