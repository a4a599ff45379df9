import Dispatch
import Foundation
import Synchronization

/// The one thread and connection of the process that writes and checkpoints.
///
/// It never waits to fill a batch: what came while the last commit was syncing is the next batch, so the group grows
/// with the load and a lone write pays one fsync.
final class Writer: Sendable {
    let queue: WriteQueue
    private let stopped = DispatchSemaphore(value: 0)

    /// - Parameter connection: belongs to the writer's thread from here on.
    init(connection: sending Connection, capacity: Int, checkpointPages: Int) {
        let queue = WriteQueue(capacity: capacity)
        let stopped = stopped
        self.queue = queue
        let handover = Mutex<Connection?>(connection)
        let thread = Thread {
            if let connection = handover.withLock({ $0.take() }) {
                Self.run(connection, queue, checkpointPages)
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

    private static func run(_ connection: Connection, _ queue: WriteQueue, _ checkpointPages: Int) {
        let groupCommit = GroupCommit(connection: connection)
        var checkpointed = 0
        do {
            while let batch = queue.take() {
                try groupCommit.commit(batch)
                // While a reader holds the log it grows on, and what was moved already need not be looked at again.
                let logged = connection.loggedPages
                if logged < checkpointed { checkpointed = 0 }
                if logged - checkpointed >= checkpointPages {
                    try connection.checkpoint(truncating: false)
                    checkpointed = logged
                }
            }
            try connection.checkpoint(truncating: true)
        } catch {
            queue.close(refusing: .writerEnded)
            while let batch = queue.take() {
                for write in batch { write.answer(DatabaseError.writerEnded) }
            }
        }
    }
}
