import Dispatch

/// The threads that write facts and read the first bytes of files: syncing a new file takes a while, so several run in parallel;
/// work on the same file is sequential.
final class FactsWriter: Sendable {
    private let queues = (0..<4).map { DispatchQueue(label: "store.facts.\($0)") }

    /// Runs `work` after the earlier work on that file, and returns at once.
    func perform(for fileID: String, _ work: @escaping @Sendable () -> Void) {
        queues[Int(fileID.utf8.last ?? 0) % queues.count].async(execute: work)
    }

    /// Returns when all work requested so far is done.
    func drain() {
        for queue in queues { queue.sync {} }
    }
}
