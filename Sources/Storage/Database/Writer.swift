import Basics
import Dispatch
import Foundation

/// The one thread and connection of the process that writes and checkpoints.
///
/// It never waits to fill a batch: what came while the last commit was syncing is the next batch, so the group grows
/// with the load and a lone write pays one fsync.
final class Writer: Sendable {
    let queue: WriteQueue
    private let stopped = DispatchSemaphore(value: 0)

    /// - Parameter connection: belongs to the writer's thread from here on.
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

    /// Refuses new writes, commits those that wait, and returns when the connection is closed.
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
        // Each holds on to the connection.
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
            // Between two batches no transaction is open, and a copy goes a step further.
            patience = .untilWork
            copies.removeAll { copy in
                let progress = copy.advance(connection)
                if progress == .more { patience = .none }
                if progress == .blocked && patience == .untilWork { patience = .brief }
                return progress == .finished
            }
            guard !turn.writes.isEmpty else { continue }
            let isFull = try groupCommit.commit(turn.writes)
            // While a reader holds the log it grows on, and what was moved already need not be looked at again.
            let logged = connection.loggedPages
            if logged < checkpointed { checkpointed = 0 }
            // A log that was moved begins anew: on a full disk that is where the next deletion finds room.
            if isFull || logged - checkpointed >= checkpointPages {
                // Readers that never all stop would have it grow for ever: one moment without them is enough.
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
            // What found no space in the database file stays in the log, which can begin anew once all of it was moved.
            if reserve.release() { try checkpoint(connection, reserve, kind) }
        } catch {
            throw GroupCommit.Uncertain(cause: error)
        }
    }
}
