import Database

/// A new data file without a row: it either gets a row, or is removed.
///
/// After a commit that failed because of the disk, it is unknown until the next start whether the row exists, and whether the row
/// of the replaced object is gone. So the file stays if the outcome is unknown; the start keeps or removes it according to the
/// database.
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

    /// Runs `write`, which returns when a row of the file is on disk.
    func commit<T>(_ write: () throws -> T) throws -> T {
        do {
            let value = try write()
            isPending = false
            engine.resolve(id)
            return value
        } catch DatabaseError.writerEnded {
            isPending = false
            throw DatabaseError.writerEnded
        }
    }

    /// Removes the file, unless it has a row, or may have one.
    func abandon() {
        guard isPending else { return }
        isPending = false
        // If even that fails, the file stays pending, and the next start handles it.
        guard (try? engine.remove(id)) != nil else { return }
        engine.resolve(id)
    }
}
