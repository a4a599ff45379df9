package import Basics
import Database
import Dispatch

/// The work of a store apart from requests, on threads of its own.
struct StoreWork: Sendable {
    let removals: FileRemovals
    let discards: Discards
    let factsWriter: FactsWriter
    let upkeep: any EngineUpkeep

    /// - Parameter removalDelay: the time for which files without rows are kept for other gateways; `nil` without other gateways.
    init(
        _ engine: any ObjectEngine, _ database: Database, _ clock: any WallClock, removalDelay: Duration?,
        isOrphan: @escaping @Sendable (_ writtenAt: UnixTime) throws -> Bool
    ) throws {
        removals = FileRemovals(engine, database, clock, delay: removalDelay)
        factsWriter = FactsWriter()
        upkeep = try engine.start(
            EngineStart(
                database: database, factsWriter: factsWriter, hasReplicas: removalDelay != nil, isOrphan: isOrphan
            ) { [weak removals] in
                try removals?.schedule($0, in: $1)
            })
        discards = Discards(database, removals)
    }

    /// Begins no further removal of rows or files.
    func stopRemovals() {
        discards.stop()
        removals.stop()
    }

    /// Returns when all work requested so far was tried. Discards schedule removals, so they end first.
    func drain() {
        discards.drain()
        removals.drain()
        upkeep.drain()
        factsWriter.drain()
    }
}

/// The threads that write facts and read the first bytes of files: syncing a new file takes a while, so several run in parallel;
/// work on the same file is sequential.
package final class FactsWriter: Sendable {
    private let workers = (0..<4).map { Worker.serial("store.facts.\($0)") }

    init() {}

    /// Returns the worker for a file, which is always the same one.
    package func worker(for fileID: String) -> Worker {
        workers[Int(fileID.utf8.last ?? 0) % workers.count]
    }

    /// Runs `body` while nobody else writes the facts of a file.
    package func alone(with fileID: String, _ body: () throws -> Void) rethrows {
        let (isAlone, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        worker(for: fileID).post {
            isAlone.signal()
            end.wait()
        }
        isAlone.wait()
        defer { end.signal() }
        try body()
    }

    /// Returns when all work requested so far is done.
    package func drain() {
        for worker in workers { worker.drain() }
    }
}
