import Basics
package import Database
import DatabaseTesting
import Dispatch
package import TestSupport

/// A database in a folder of its own; both are removed with the last reference.
package final class TestDatabase: Sendable {
    package let folder: TestFolder
    package let database: Database
    /// The reads, and the writes that block their callers.
    package let calls = CallCounter()

    /// - Parameters:
    ///   - inMemory: whether the folder may be in memory. Only the tests of Database and ObjectStore test durability.
    ///   - isShared: whether modules look for work of which no signal is notified, as those of several gateways do.
    package init(
        _ migrations: [Migration], inMemory: Bool = true, isShared: Bool = false,
        options: Database.Options = Database.Options()
    ) throws {
        folder = try TestFolder(inMemory: inMemory)
        var options = options
        options.isShared = options.isShared || isShared
        options.onCall = options.onCall ?? { [calls] in calls.note() }
        database = try DatabaseEngine.open(folder.path + "/gateway.db", migrations, options)
    }

    deinit {
        database.close()
    }
}

/// The number of calls of a database.
package final class CallCounter: Sendable {
    private let count = Lock(0)

    fileprivate func note() { count.withLock { $0 += 1 } }

    /// Returns after this number of further calls.
    package func next(_ number: Int) async {
        let end = count.withLock { $0 } + number
        while count.withLock({ $0 }) < end { await Task.yield() }
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
