import Basics

/// A thread for reads that may take seconds, one at a time. Others wait neither on their event loop nor in
/// ``Database/readInBackground(_:)``, which serves the lists of all users.
package final class BackgroundReads: Sendable {
    private let database: Database
    private let threads: ReadingThreads

    /// - Parameter purpose: a word for the thread's name.
    package init(of database: Database, for purpose: String) {
        self.database = database
        threads = ReadingThreads(name: "reads-\(purpose)", count: 1)
    }

    deinit {
        threads.close()
    }

    package func run<T: Sendable>(_ body: @escaping @Sendable (ReadConnection) throws -> T) async throws -> T {
        try await threads.run { [database] in try database.readBlocking(body) }
    }
}
