import Basics
import Dispatch

/// A thread for reads that may take seconds, one at a time. Others wait neither on their event loop nor in
/// ``Database/readInBackground(_:)``, which serves the lists of all users.
package struct BackgroundReads: Sendable {
    private let database: Database
    private let queue: DispatchQueue

    /// - Parameter purpose: a word for the thread's name.
    package init(of database: Database, for purpose: String) {
        self.database = database
        queue = DispatchQueue(label: "database.\(purpose)")
    }

    package func run<T: Sendable>(_ body: @escaping @Sendable (ReadConnection) throws -> T) async throws -> T {
        try await queue.result { [database] in try database.readBlocking(body) }
    }
}
