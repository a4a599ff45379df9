import Accounts
import Basics
import Database

/// The gateway's ``ClockGuard``: keeps what it saw in the database, and tells the log what it finds.
final class ClockKeeper: Sendable {
    /// How old what is kept may be while nothing changes.
    private static let interval = Duration.seconds(300)

    let clockGuard: ClockGuard
    private let database: Database
    private let log: Logger
    /// `nil` where something changed since.
    private let savedAt = Lock<ContinuousClock.Instant?>(nil)

    /// - Parameter confirmation: see ``ClockGuard``.
    init(database: Database, clock: any MachineClock, confirmation: Duration, log: Logger) throws {
        self.database = database
        self.log = log
        let (record, lastSeen) = try database.readBlocking { connection in
            (try ClockRecords(connection).history(), try Audit.newestTime(in: connection))
        }
        clockGuard = ClockGuard(record: record, lastSeen: lastSeen, clock: clock, confirmation: confirmation)
        // Before anything is written with a time of this clock.
        do {
            try database.writeBlocking(mayUseReserve: true) { [clockGuard] in
                try ClockRecords($0).save(clockGuard.record())
            }
        } catch {
            // The disk may be full. Nothing is deleted for its age until this is made up for.
            reportUnsaved(error)
        }
        let status = clockGuard.status
        if !status.isConfirmed {
            log.write(
                "the clock is not confirmed",
                [
                    "step_seconds": "\(status.stepSeconds)", "confirmed_in_seconds": "\(status.remainingSeconds)",
                    "consequence": "nothing is deleted for its age",
                    "hint": "if the clock is right, run data-gateway clock confirm",
                ], level: .warning)
        }
        clockGuard.onChange { [weak self] in self?.note($0) }
    }

    /// Saves what was seen of the clock; to be called once a minute, and before anything is deleted for its age.
    ///
    /// - Returns: `nil` while nothing may be.
    func permit() async -> DeletionPermit? {
        let permit = clockGuard.permit()
        let saved = savedAt.withLock { $0 }
        if let saved, ContinuousClock.now - saved < Self.interval { return permit }
        do {
            try await save()
        } catch {
            reportUnsaved(error)
            // What is kept is old, and true, unless something changed.
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
            // Read in the transaction, so that of two saves the later one has the later look.
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

    /// Times from before and after a step have to be told apart after a crash, too. Where saving fails, ``permit()`` tries
    /// again before anything is deleted.
    private func note(_ change: ClockGuard.Change) {
        report(change)
        savedAt.withLock { $0 = nil }
        Task { try? await save() }
    }

    /// Believes the clock, at an operator's word, who is written into the audit log.
    ///
    /// - Parameter log: of the call.
    /// - Returns: `false` where the clock has stepped since it was looked at.
    func confirm(step: Int64, by caller: Caller, log: Logger) async throws -> Bool {
        let status = clockGuard.status
        guard status.stepSeconds == step else { return false }
        try await database.write(mayUseReserve: true) {
            try Audit.record(caller.did(to: "clock/\(step)"), at: status.now, in: $0)
        }
        guard clockGuard.confirm(step: step) else { return false }
        savedAt.withLock { $0 = nil }
        // Where saving fails, permit() tries again before anything is deleted.
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
                    "consequence": "nothing is deleted for its age until the clock is confirmed",
                    "hint": "if the clock is right, run data-gateway clock confirm",
                ], level: .warning)
        case .stepped(let seconds, isConfirmed: true):
            log.write("the clock stepped back to where it was", ["seconds": "\(seconds)"])
        case .confirmedByTime:
            log.write("the clock is confirmed: it did not step for clock.confirmation_hours")
        }
    }
}
