import Accounts
import Basics
import Database
import Synchronization

/// Owns the gateway's ``ClockGuard``: stores its record in the database, and logs its findings.
final class ClockKeeper: Sendable {
    /// The largest age of the stored record while nothing changes.
    private static let interval = Duration.seconds(300)

    let clockGuard: ClockGuard
    private let database: Database
    /// Whether the clock is close enough to that of the database's server.
    private let isInTime: @Sendable () -> Bool
    private let log: Logger
    /// The time of the last save; `nil` if something has changed since.
    private let savedAt = Lock<ContinuousClock.Instant?>(nil)

    /// - Parameters:
    ///   - confirmation: see ``ClockGuard``.
    ///   - isInTime: whether the clock may decide what is deleted by age.
    init(
        database: Database, clock: any MachineClock, confirmation: Duration, log: Logger,
        isInTime: @escaping @Sendable () -> Bool = { true }
    ) throws {
        self.database = database
        self.isInTime = isInTime
        self.log = log
        let (record, lastSeen) = try database.readBlocking { connection in
            (try ClockRecords(connection).history(), try Audit.newestTime(in: connection))
        }
        clockGuard = ClockGuard(record: record, lastSeen: lastSeen, clock: clock, confirmation: confirmation)
        // Saved before any row gets a time of this clock.
        do {
            try database.writeBlocking(mayUseReserve: true) { [clockGuard] in
                try ClockRecords($0).save(clockGuard.record())
            }
        } catch {
            // The disk may be full. Nothing is deleted by age until a save succeeds.
            reportUnsaved(error)
        }
        let status = clockGuard.status
        if !status.isConfirmed {
            log.write(
                "the clock is not confirmed",
                [
                    "step_seconds": "\(status.stepSeconds)", "confirmed_in_seconds": "\(status.remainingSeconds)",
                    "consequence": "nothing is deleted because of its age",
                    "hint": "if the clock is right, run data-gateway clock confirm",
                ], level: .warning)
        }
        clockGuard.onChange { [weak self] in self?.note($0) }
    }

    /// Saves the record of the clock; called once a minute, and before deletions by age.
    ///
    /// - Returns: `nil` while nothing may be deleted by age.
    func permit() async -> DeletionPermit? {
        guard isInTime() else { return nil }
        let permit = clockGuard.permit()
        let saved = savedAt.withLock { $0 }
        if let saved, ContinuousClock.now - saved < Self.interval { return permit }
        do {
            try await save()
        } catch {
            reportUnsaved(error)
            // The stored record is old but valid, unless something has changed.
            if saved == nil { return nil }
        }
        return permit
    }

    private func save() async throws {
        let (now, former) = savedAt.withLock { savedAt in
            let pair = (ContinuousClock.now, savedAt)
            savedAt = pair.0
            return pair
        }
        do {
            // Read in the transaction, so that the later of two saves has the later reading.
            try await database.write(mayUseReserve: true) { [clockGuard] in
                try ClockRecords($0).save(clockGuard.record())
            }
        } catch {
            savedAt.withLock { if $0 == now { $0 = former } }
            throw error
        }
    }

    private func reportUnsaved(_ error: any Error) {
        log.write("the state of the clock cannot be saved", ["error": "\(error)"], level: .error)
    }

    /// Handles a change of the clock. Times from before and after a step have to be distinguishable after a crash, too. If saving
    /// fails, ``permit()`` tries again before anything is deleted.
    private func note(_ change: ClockGuard.Change) {
        report(change)
        savedAt.withLock { $0 = nil }
        Task { try? await save() }
    }

    /// Confirms the clock at the request of an operator, who is recorded in the audit log.
    ///
    /// - Parameter log: the log of the call.
    /// - Returns: `false` if the clock has stepped since the operator saw it.
    func confirm(step: Int64, by caller: Caller, log: Logger) async throws -> Bool {
        let status = clockGuard.status
        guard status.stepSeconds == step else { return false }
        try await database.write(mayUseReserve: true) {
            try Audit.record(caller.did(to: "clock/\(step)"), at: status.now, in: $0)
        }
        guard clockGuard.confirm(step: step) else { return false }
        savedAt.withLock { $0 = nil }
        // If saving fails, permit() tries again before anything is deleted.
        try? await save()
        log.write("the clock was confirmed by an operator", ["step_seconds": "\(step)"])
        return true
    }

    private func report(_ change: ClockGuard.Change) {
        switch change {
        case .stepped(let seconds, isConfirmed: false):
            log.write(
                "the clock stepped",
                [
                    "seconds": "\(seconds)",
                    "consequence": "nothing is deleted because of its age until the clock is confirmed",
                    "hint": "if the clock is right, run data-gateway clock confirm",
                ], level: .warning)
        case .stepped(let seconds, isConfirmed: true):
            log.write("the clock stepped back to where it was", ["seconds": "\(seconds)"])
        case .confirmedByTime:
            log.write("the clock is confirmed: it did not step for clock.confirmation_hours")
        }
    }
}
