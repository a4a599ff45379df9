import Database
import Dispatch
import TestSupport

/// A database in a folder of its own; both are removed with the last reference.
package final class TestDatabase: Sendable {
    package let folder: TestFolder
    package let database: Database

    /// - Parameter inMemory: whether the folder may be in memory. Only the tests of Database and ObjectStore test durability.
    package init(_ migrations: [Migration], inMemory: Bool = true) throws {
        folder = try TestFolder(inMemory: inMemory)
        database = try Database(path: folder.path + "/gateway.db", migrations: migrations)
    }

    deinit {
        database.close()
    }
}

extension Database {
    /// Blocks the writer inside a write until the returned closure is called, so that writes that are submitted meanwhile become
    /// one batch.
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
