import Database

/// A data file that was just made and that no row speaks of: it ends as the file of one, or is removed.
///
/// Whether a commit that failed by the disk was made, nobody knows before the next start: the row may be there, and the row
/// of what it replaced gone. So the file is left where the outcome is unknown; the start keeps it or removes it, by what the
/// database says then.
final class NewFile {
    let id: String
    let sink: any BodySink
    private let engine: any ObjectEngine
    private var isPending = true

    init(_ id: String, _ sink: any BodySink, in engine: any ObjectEngine) {
        self.id = id
        self.sink = sink
        self.engine = engine
    }

    deinit {
        abandon()
    }

    /// Runs `write`, which returns when a row that speaks of the file is on disk.
    func commit<T>(_ write: () throws -> T) throws -> T {
        do {
            let value = try write()
            isPending = false
            engine.settle(id)
            return value
        } catch DatabaseError.writerEnded {
            isPending = false
            throw DatabaseError.writerEnded
        }
    }

    /// Removes the file, unless a row speaks of it, or may.
    func abandon() {
        guard isPending else { return }
        isPending = false
        // Where even that fails, the file stays pending, and the next start looks for it.
        guard (try? engine.remove(id)) != nil else { return }
        engine.settle(id)
    }
}
