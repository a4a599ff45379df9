import Basics
import Dispatch
import Synchronization

/// The only thread and connection of the process that writes and checkpoints.
///
/// It never waits to fill a batch: writes that arrive while a commit is syncing form the next batch, so groups grow with the load,
/// and a single write costs one fsync.
final class Writer: Sendable {
    /// The wait after which a copy that a lock blocks continues.
    private static let copyRetry = Duration.milliseconds(10)

    let queue: WriteQueue
    private let stopped = DispatchSemaphore(value: 0)

    /// - Parameter connection: used by the writer's thread only from now on.
    init(
        connection: sending Connection, queue: WriteQueue, reserve: DiskReserve, checkpoints: Checkpoints,
        onEnd: @escaping @Sendable (DatabaseError) -> Void
    ) {
        let stopped = stopped
        self.queue = queue
        let handover = Lock<Connection?>(connection)
        Worker.thread("database").post {
            if let connection = handover.withLock({ $0.take() }) {
                ThreadMark.writer.with(ObjectIdentifier(queue)) {
                    Self.run(connection, queue, reserve, checkpoints, onEnd)
                }
            }
            stopped.signal()
        }
    }

    /// Refuses new writes, commits waiting ones, and returns when the connection is closed.
    func stop() {
        queue.close(refusing: .closed)
        stopped.wait()
        stopped.signal()
    }

    private static func run(
        _ connection: Connection, _ queue: WriteQueue, _ reserve: DiskReserve, _ checkpoints: Checkpoints,
        _ onEnd: (DatabaseError) -> Void
    ) {
        var copies: [DatabaseCopy] = []
        var end = DatabaseError.closed
        do {
            try serve(connection, queue, reserve, checkpoints, &copies)
        } catch {
            end = .writerEnded
            connection.keepLogOnClose()
            queue.close(refusing: end)
            onEnd(error.cause)
            for write in error.unanswered { write.finish(DatabaseError.outcomeUnknown) }
            while let turn = queue.take() {
                for write in turn.writes { write.finish(end) }
                copies += turn.copies
            }
        }
        // Each copy refers to the connection.
        for copy in copies { copy.fail(end) }
    }

    private static func serve(
        _ connection: Connection, _ queue: WriteQueue, _ reserve: DiskReserve, _ checkpoints: Checkpoints,
        _ copies: inout [DatabaseCopy]
    ) throws(GroupCommit.Uncertain) {
        let groupCommit = GroupCommit(connection: connection, reserve: reserve)
        var waitLimit = WriteQueue.WaitLimit.untilWork
        while let turn = queue.take(waitLimit) {
            copies += turn.copies
            // Between two batches no transaction is open, and copies perform a step.
            var copyWaitLimit: WriteQueue.WaitLimit?
            copies.removeAll { copy in
                let progress = copy.advance(connection)
                if progress == .more { copyWaitLimit = WriteQueue.WaitLimit.none }
                if progress == .blocked { copyWaitLimit = copyWaitLimit ?? .atMost(copyRetry) }
                return progress == .finished
            }
            let isFull = turn.writes.isEmpty ? false : try groupCommit.commit(turn.writes)
            try checkpoints.run(on: connection, isFull: isFull)
            waitLimit = copyWaitLimit ?? checkpoints.waitLimit
        }
        try checkpoints.finish(connection)
    }
}
