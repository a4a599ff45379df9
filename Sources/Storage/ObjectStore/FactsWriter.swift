import Dispatch

/// The threads that write facts and read the first bytes of files: syncing a new file takes a while, and several do at the
/// same time; of one file, one after the other.
final class FactsWriter: Sendable {
    private let queues = (0..<4).map { DispatchQueue(label: "store.facts.\($0)") }

    /// Runs `work` behind what was asked for earlier for that file, and returns at once.
    func perform(for fileID: String, _ work: @escaping @Sendable () -> Void) {
        queues[Int(fileID.utf8.last ?? 0) % queues.count].async(execute: work)
    }

    /// Returns when all that was asked for so far is done.
    func drain() {
        for queue in queues { queue.sync {} }
    }
}
