import Basics
import Synchronization

/// The checkpoints of the writer: when one is due, and what keeps it from moving the whole log.
///
/// One checkpoint follows about every ``Database/Options/checkpointPages`` pages; while a reader holds the log, one is also made at
/// intervals, so that it is known how long that lasts. The writer's thread uses it; others read ``blockage``.
final class Checkpoints: @unchecked Sendable {  // all but `published` belongs to the writer's thread
    private let pages: Int
    private let retryInterval: Duration
    private let reserve: DiskReserve
    private let readers: ReaderPool
    private let onChange: @Sendable (LogChange) -> Void

    private var watch: CheckpointWatch
    /// The log's pages at the latest checkpoint.
    private var checkpointed = 0
    private var latest = ContinuousClock.now
    private let published = Lock<CheckpointWatch.Blockage?>(nil)

    init(_ options: Database.Options, reserve: DiskReserve, readers: ReaderPool) {
        pages = options.checkpointPages
        retryInterval = options.blockedLogRetry
        self.reserve = reserve
        self.readers = readers
        onChange = options.onLogChange
        // Twice the size to which a log is truncated when it starts over.
        watch = CheckpointWatch(.init(pages: 8 * options.checkpointPages, duration: options.blockedLogTimeout))
    }

    /// The snapshot that was held at the latest checkpoint; on any thread.
    var blockage: CheckpointWatch.Blockage? { published.withLock { $0 } }

    /// The wait for work after which ``run(on:isFull:)`` has to be called again.
    var waitLimit: WriteQueue.WaitLimit {
        watch.blockage == nil ? .untilWork : .atMost(retryInterval)
    }

    /// Makes a checkpoint if one is due; called between two batches.
    ///
    /// - Parameter isFull: whether the disk is full.
    func run(on session: SQLiteSession, isFull: Bool) throws(GroupCommit.Uncertain) {
        // While a reader holds the log it keeps growing; pages that were moved already are not counted again.
        let logged = session.loggedPages
        if logged < checkpointed { checkpointed = 0 }
        // A log that was moved starts over, which on a full disk makes space for the next deletion.
        if isFull || logged - checkpointed >= pages {
            // With readers at all times it would grow forever: one moment without them is enough.
            try checkpoint(session, logged >= 4 * pages ? .restarting : .passive)
        } else if watch.blockage != nil, ContinuousClock.now - latest >= retryInterval {
            try checkpoint(session, .passive)
        }
    }

    /// Moves the whole log at the end.
    func finish(_ session: SQLiteSession) throws(GroupCommit.Uncertain) {
        try checkpoint(session, .truncating)
    }

    private func checkpoint(
        _ session: SQLiteSession, _ kind: SQLiteSession.Checkpoint
    ) throws(GroupCommit.Uncertain) {
        do {
            follow(try session.checkpoint(kind))
            checkpointed = session.loggedPages
        } catch .full {
            // Pages without space in the database file stay in the log, which can start over once all of them were moved.
            if reserve.release() { try checkpoint(session, kind) }
        } catch {
            throw GroupCommit.Uncertain(cause: error)
        }
    }

    private func follow(_ outcome: CheckpointWatch.Outcome) {
        latest = .now
        if watch.begins(outcome) { readers.markRunningReads() }
        let changes = watch.follow(outcome, at: latest, hasEarlierReads: readers.hasMarkedReads)
        published.withLock { $0 = watch.blockage }
        for change in changes { onChange(change) }
    }
}
