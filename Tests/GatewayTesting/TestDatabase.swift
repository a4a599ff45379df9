import Database
import Dispatch
import TestSupport

/// A database in a folder of its own; both go with the last reference to it.
package final class TestDatabase: Sendable {
    package let folder: TestFolder
    package let database: Database

    /// - Parameter inMemory: whether the folder may be in memory: what survives a crash is for the tests of Database and
    ///   ObjectStore to ask.
    package init(_ migrations: [Migration], inMemory: Bool = true) throws {
        folder = try TestFolder(inMemory: inMemory)
        database = try Database(path: folder.path + "/gateway.db", migrations: migrations)
    }

    deinit {
        database.close()
    }
}

extension Database {
    /// Holds the writer inside a write until the returned closure is called, so that what is submitted meanwhile
    /// becomes one batch.
    package func holdWriter() -> () -> Void {
        let entered = DispatchSemaphore(value: 0)
        let release = DispatchSemaphore(value: 0)
        submit(
            { _ in
                entered.signal()
                release.wait()
            }, reply: { _ in })
        entered.wait()
        return { release.signal() }
    }
}
