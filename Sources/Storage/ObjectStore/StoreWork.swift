import Database

/// The work of a store apart from requests, on threads of its own.
struct StoreWork: Sendable {
    let removals: FileRemovals
    let discards: Discards
    let reconciler: Reconciler
    let factsWriter = FactsWriter()

    init(_ data: DirectoryEngine, _ engine: any ObjectEngine, _ database: Database) {
        removals = FileRemovals(engine, database)
        discards = Discards(database, removals)
        reconciler = Reconciler(data, database, factsWriter)
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
        reconciler.drain()
        factsWriter.drain()
    }
}
