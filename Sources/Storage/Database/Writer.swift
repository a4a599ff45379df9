import Basics
import Dispatch
import Foundation

/// The only thread and connection of the process that writes and checkpoints.
///
/// It never waits to fill a batch: writes that arrive while a commit is syncing form the next batch, so groups grow with the load,
/// and a single write costs one fsync.
final class Writer: Sendable {
    let queue: WriteQueue
    private let stopped = DispatchSemaphore(value: 0)

    /// - Parameter connection: used by the writer's thread only from now on.
    init(
        connection: sending Connection, queue: WriteQueue, reserve: DiskReserve, checkpointPages: Int,
        onEnd: @escaping @Sendable (DatabaseError) -> Void
    ) {
        let stopped = stopped
        self.queue = queue
        let handover = Lock<Connection?>(connection)
        let thread = Thread {
            if let connection = handover.withLock({ $0.take() }) {
                ThreadMark.writer.with(ObjectIdentifier(queue)) {
                    Self.run(connection, queue, reserve, checkpointPages, onEnd)
                }
            }
            stopped.signal()
        }
        thread.name = "database"
        thread.start()
    }

    /// Refuses new writes, commits waiting ones, and returns when the connection is closed.
    func stop() {
        queue.close(refusing: .closed)
        stopped.wait()
        stopped.signal()
    }

    private static func run(
        _ connection: Connection, _ queue: WriteQueue, _ reserve: DiskReserve, _ checkpointPages: Int,
        _ onEnd: (DatabaseError) -> Void
    ) {
        var copies: [DatabaseCopy] = []
        var end = DatabaseError.closed
        do {
            try serve(connection, queue, reserve, checkpointPages, &copies)
        } catch {
            end = .writerEnded
            connection.keepLogOnClose()
            queue.close(refusing: end)
            onEnd(error.cause)
            var unanswered = error.unanswered
            while let turn = queue.take() {
                unanswered += turn.writes
                copies += turn.copies
            }
            for write in unanswered { write.answer(end) }
        }
        // Each copy refers to the connection.
        for copy in copies { copy.fail(end) }
    }

    private static func serve(
        _ connection: Connection, _ queue: WriteQueue, _ reserve: DiskReserve, _ checkpointPages: Int,
        _ copies: inout [DatabaseCopy]
    ) throws(GroupCommit.Uncertain) {
        let groupCommit = GroupCommit(connection: connection, reserve: reserve)
        var checkpointed = 0
        var patience = WriteQueue.Patience.untilWork
        while let turn = queue.take(patience) {
            copies += turn.copies
            // Between two batches no transaction is open, and copies perform a step.
            patience = .untilWork
            copies.removeAll { copy in
                let progress = copy.advance(connection)
                if progress == .more { patience = .none }
                if progress == .blocked && patience == .untilWork { patience = .brief }
                return progress == .finished
            }
            guard !turn.writes.isEmpty else { continue }
            let isFull = try groupCommit.commit(turn.writes)
            // While a reader holds the log it keeps growing; pages that were moved already are not counted again.
            let logged = connection.loggedPages
            if logged < checkpointed { checkpointed = 0 }
            // A log that was moved starts over, which on a full disk makes space for the next deletion.
            if isFull || logged - checkpointed >= checkpointPages {
                // With readers at all times it would grow forever: one moment without them is enough.
                try checkpoint(connection, reserve, logged >= 4 * checkpointPages ? .restarting : .passive)
                checkpointed = logged
            }
        }
        try checkpoint(connection, reserve, .truncating)
    }

    private static func checkpoint(
        _ connection: Connection, _ reserve: DiskReserve, _ kind: Connection.Checkpoint
    ) throws(GroupCommit.Uncertain) {
        do {
            try connection.checkpoint(kind)
        } catch .full {
            // Pages without space in the database file stay in the log, which can start over once all of them were moved.
            if reserve.release() { try checkpoint(connection, reserve, kind) }
        } catch {
            throw GroupCommit.Uncertain(cause: error)
        }
    }
}
