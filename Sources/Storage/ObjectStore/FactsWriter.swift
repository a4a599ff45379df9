import Basics

/// The threads that write facts and read the first bytes of files: syncing a new file takes a while, so several run in parallel;
/// work on the same file is sequential.
final class FactsWriter: Sendable {
    private let workers = (0..<4).map { Worker.serial("store.facts.\($0)") }

    /// Returns the worker for a file, which is always the same one.
    func worker(for fileID: String) -> Worker {
        workers[Int(fileID.utf8.last ?? 0) % workers.count]
    }

    /// Returns when all work requested so far is done.
    func drain() {
        for worker in workers { worker.drain() }
    }
}
