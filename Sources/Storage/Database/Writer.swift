import Basics
import Dispatch
import Synchronization

/// The only thread and connection of the process that writes, and moves the log of a file.
///
/// It never waits to fill a batch: writes that arrive while a commit is syncing form the next batch, so groups grow with the load,
/// and a single write costs one fsync.
final class Writer: Sendable {
    /// The wait after which a copy that a lock blocks continues.
    private static let copyRetry = Duration.milliseconds(10)

    let queue: WriteQueue
    private let stopped = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - connection: used by the writer's thread only from now on.
    ///   - file: `nil` for a database on a server.
    init(
        connection: sending Connection, queue: WriteQueue, file: DatabaseFile?,
        onEnd: @escaping @Sendable (DatabaseError) -> Void
    ) {
        let stopped = stopped
        self.queue = queue
        let handover = Lock<Connection?>(connection)
        Worker.thread("database").post {
            if let connection = handover.withLock({ $0.take() }) {
                ThreadMark.writer.with(ObjectIdentifier(queue)) {
                    Self.run(connection, queue, file, onEnd)
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
        _ connection: Connection, _ queue: WriteQueue, _ file: DatabaseFile?,
        _ onEnd: (DatabaseError) -> Void
    ) {
        var copies: [DatabaseCopy] = []
        var end = DatabaseError.closed
        do {
            try serve(connection, queue, file, &copies)
        } catch {
            end = .writerEnded
            connection.session.file?.keepLogOnClose()
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
        _ connection: Connection, _ queue: WriteQueue, _ file: DatabaseFile?,
        _ copies: inout [DatabaseCopy]
    ) throws(GroupCommit.Uncertain) {
        let groupCommit = GroupCommit(connection: connection, reserve: file?.reserve)
        let session = connection.session.file
        var waitLimit = WriteQueue.WaitLimit.untilWork
        while let turn = queue.take(waitLimit) {
            copies += turn.copies
            // Between two batches no transaction is open, and copies perform a step.
            var copyWaitLimit: WriteQueue.WaitLimit?
            copies.removeAll { copy in
                guard let session else { return false }
                let progress = copy.advance(session)
                if progress == .more { copyWaitLimit = WriteQueue.WaitLimit.none }
                if progress == .blocked { copyWaitLimit = copyWaitLimit ?? .atMost(copyRetry) }
                return progress == .finished
            }
            let isFull = turn.writes.isEmpty ? false : try groupCommit.commit(turn.writes)
            guard let file, let session else { continue }
            try file.checkpoints.run(on: session, isFull: isFull)
            waitLimit = copyWaitLimit ?? file.checkpoints.waitLimit
        }
        if let session { try file?.checkpoints.finish(session) }
    }
}
