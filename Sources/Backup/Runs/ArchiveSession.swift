package import Basics
import Crypto
package import Database
package import ObjectStore

/// The parts of a running gateway that backups read, and the stream of an archive of them.
package struct ArchiveSession: Sendable {
    let directory: DataDirectory
    let database: Database
    let store: ObjectStore
    let clock: any WallClock

    package init(directory: DataDirectory, database: Database, store: ObjectStore, clock: any WallClock) {
        self.directory = directory
        self.database = database
        self.store = store
        self.clock = clock
    }

    /// Copies the database, and passes on an archive of this moment piece by piece.
    ///
    /// - Parameters:
    ///   - begin: called once, with the path of the copy of the database, before the first piece.
    ///   - seal: makes a sink that encrypts what it passes on, and returns a function that ends it; called on another thread.
    ///   - receive: called with each piece.
    func stream(
        includingObjects: Bool, at now: UnixTime, begin: (String) async throws -> Void = { _ in },
        seal: @escaping @Sendable (any ArchiveSink) throws -> (sink: any ArchiveSink, finish: () throws -> Void) = {
            ($0, {})
        }, receive: ([UInt8]) async throws -> Void
    ) async throws -> BackupRun.Summary {
        try await store.keepingFiles {
            let copy = try newCopy()
            defer { try? PrivateFile.remove(copy) }
            try await database.copy(to: copy)
            try await begin(copy)
            let run = BackupRun(
                copy: copy, directory: directory, store: store, includesObjects: includingObjects, now: now)
            let pipe = ChunkPipe()
            Worker.thread("backup").post {
                pipe.finish(
                    Result {
                        let sealed = try seal(pipe)
                        let summary = try run.write(to: sealed.sink)
                        try sealed.finish()
                        return summary
                    })
            }
            do {
                while true {
                    switch try await pipe.next() {
                    case .chunk(let bytes): try await receive(bytes)
                    case .end(let summary): return summary
                    }
                }
            } catch {
                // The thread reads files that may be removed once it has ended.
                await pipe.cancel()
                throw error
            }
        }
    }

    /// Creates the folder for temporary files of a backup, and returns its path.
    func makeScratch() throws -> String {
        do throws(PrivateFile.Failure) {
            try PrivateFile.makeFolder(directory.copies)
        } catch {
            throw DataDirectory.Problem(description: "cannot create \(directory.copies): \(error.reason)")
        }
        return directory.copies
    }

    private func newCopy() throws -> String {
        "\(try makeScratch())/\(Random.hex(8)).db"
    }
}
