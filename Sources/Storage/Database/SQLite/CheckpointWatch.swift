import Basics

/// The connection that keeps a checkpoint from moving the whole write-ahead log.
package enum LogHolder: Sendable {
    /// A read of this process, which is limited in time.
    case gateway
    /// A connection of another program, which may stay as long as it likes.
    case other
}

/// A change of the write-ahead log's state that an operator has to know.
package enum LogChange: Sendable, Equatable {
    /// Another program's read transaction keeps the log from starting over: for a while, or while the log grew far.
    case blocked(bytes: Int)
    /// The log that was blocked can start over.
    case released(Duration)
}

/// Decides from the outcomes of checkpoints since when a connection holds the log, and whether it is another program's.
///
/// A checkpoint moves the log's pages up to the oldest snapshot that a connection reads (sqlite.org/wal.html, section 2.2). While it
/// is the same snapshot, the number of moved pages stays; a connection that begins to read later has a snapshot with more pages.
/// So once the reads of this process that ran at the first of these checkpoints have ended, the holder is another program.
struct CheckpointWatch {
    /// The outcome of a checkpoint, in pages.
    struct Outcome: Equatable {
        /// The pages in the log; `nil` if another program made a checkpoint at that time.
        var logged: Int?
        /// The pages of the log that are in the database file as well.
        var moved = 0

        var isComplete: Bool { logged == moved }
    }

    struct Limits {
        /// The number of pages in a blocked log at which it is reported.
        let pages: Int
        /// The time that a log is blocked when it is reported.
        let duration: Duration
    }

    /// One snapshot that is held at the latest checkpoint.
    struct Blockage {
        let since: ContinuousClock.Instant
        let outcome: Outcome
        /// `nil` = not known yet.
        var holder: LogHolder?
        var isReported = false
    }

    private static let pageBytes = 4096

    let limits: Limits
    private(set) var blockage: Blockage?

    init(_ limits: Limits) {
        self.limits = limits
    }

    /// Whether a checkpoint with this outcome is the first that finds a snapshot held: the reads that run now are those that may hold
    /// it.
    func begins(_ outcome: Outcome) -> Bool {
        !outcome.isComplete && outcome.moved != blockage?.outcome.moved
    }

    /// Follows one checkpoint.
    ///
    /// - Parameter hasEarlierReads: whether a read of this process still runs that ran when the snapshot was first found held.
    /// - Returns: what has to be reported now.
    mutating func follow(
        _ outcome: Outcome, at now: ContinuousClock.Instant, hasEarlierReads: Bool
    ) -> [LogChange] {
        if begins(outcome) || outcome.isComplete {
            let released = blockage.flatMap { $0.isReported ? LogChange.released(now - $0.since) : nil }
            blockage = outcome.isComplete ? nil : Blockage(since: now, outcome: outcome)
            return released.map { [$0] } ?? []
        }
        guard var current = blockage else { return [] }
        defer { blockage = current }
        current.holder = hasEarlierReads ? .gateway : .other
        let pages = outcome.logged ?? 0
        guard current.holder == .other, !current.isReported,
            pages >= limits.pages || now - current.since >= limits.duration
        else { return [] }
        current.isReported = true
        return [.blocked(bytes: pages * Self.pageBytes)]
    }
}
