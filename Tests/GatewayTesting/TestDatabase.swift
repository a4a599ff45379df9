package import Database
import DatabaseTesting
import Dispatch
package import TestSupport

/// A database in a folder of its own; both are removed with the last reference.
package final class TestDatabase: Sendable {
    package let folder: TestFolder
    package let database: Database

    /// - Parameter inMemory: whether the folder may be in memory. Only the tests of Database and ObjectStore test durability.
    package init(
        _ migrations: [Migration], inMemory: Bool = true, options: Database.Options = Database.Options()
    ) throws {
        folder = try TestFolder(inMemory: inMemory)
        database = try DatabaseEngine.open(folder.path + "/gateway.db", migrations, options)
    }

    deinit {
        database.close()
    }
}

extension Database {
    /// Blocks the writer inside a write until the returned closure is called, so that writes that are submitted meanwhile become
    /// one batch.
    package func holdWriter() throws -> () -> Void {
        let entered = DispatchSemaphore(value: 0)
        let release = DispatchSemaphore(value: 0)
        submit(
            { _ in
                entered.signal()
                try release.waitForSignal()
                // The write runs again if its connection is lost.
                release.signal()
            }, reply: { _ in })
        try entered.waitForSignal()
        return { release.signal() }
    }

    /// Runs `body` while a read of ``Database/readInBackground(_:)`` does not end. A `body` that waits for it is released at the end of
    /// its test's time.
    package func occupyingBackgroundReads<T: Sendable>(_ body: () async throws -> T) async throws -> T {
        let release = DispatchSemaphore(value: 0)
        let (starts, start) = AsyncStream<Void>.makeStream()
        let occupied = Task {
            try await readInBackground { _ in
                start.finish()
                try release.waitForSignal()
            }
        }
        for await _ in starts {}
        let result: Result<T, any Error>
        do {
            result = .success(
                try await withTaskCancellationHandler {
                    try await body()
                } onCancel: {
                    release.signal()
                })
        } catch {
            result = .failure(error)
        }
        release.signal()
        try await occupied.value
        return try result.get()
    }
}

extension PageLimit {
    /// No limit: a page has all rows.
    package static let unlimited = PageLimit(rows: .max, bytes: .max)
}
