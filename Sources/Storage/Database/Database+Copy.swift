import Basics
import Glibc
import Synchronization

extension Database {
    /// Copies the committed state into a new file at `path`, while writes continue; cancelling the task stops the copy.
    ///
    /// The copy is a consistent state from after the call, with every write acknowledged before it. It is not synced to the disk. That of a
    /// database on a server is a SQLite file as well.
    ///
    /// - Throws: ``DatabaseError``, `CancellationError`. The caller then removes the file at `path`.
    package func copy(to path: String) async throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw DatabaseError.failed(
                code: errno, message: "cannot create \(path): \(String(cString: strerror(errno)))")
        }
        Glibc.close(descriptor)
        if let server { return try await export(server, to: path) }
        let running = RunningCopy()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let copy = DatabaseCopy(to: path) { continuation.resume(with: $0) }
                running.started(copy)
                do {
                    try submit(copy)
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        } onCancel: {
            running.cancel()
        }
    }

    private func export(_ server: PostgresServer, to path: String) async throws {
        let isCancelled = Lock(false)
        try await withTaskCancellationHandler {
            try await Worker.thread("database-copy").run { [migrations] in
                try ServerExport(server, to: path, migrations) { isCancelled.withLock { $0 } }.run()
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
    }

    /// Runs `body` on the file of a database that no process writes, and changes nothing.
    ///
    /// If a crash left a write-ahead log beside the file, it is read as well.
    package static func inspect<T>(path: String, _ body: (ReadConnection) throws -> T) throws -> T {
        let hasLog = access(path + "-wal", F_OK) == 0
        return try body(ReadConnection(try SQLiteSession(path: path, mode: hasLog ? .reader : .immutable)))
    }
}
