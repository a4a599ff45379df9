import AppSupport
import Capability
import Database

/// The removal of libraries whose owner's account was deleted, and of those that an import left when the process or the disk failed.
/// Each step is a short transaction; a process that ends meanwhile continues after its start.
struct LibrarySweep: Sendable {
    private static let libraries = 100

    let staging: LibraryStaging
    let tasks: LibraryTasks
    /// The largest number of transactions of one round: other removals wait for its end. The largest library needs about 1,300.
    var batches = 1000

    var sweep: Sweep { Sweep("archive_libraries") { _ in try await removeLeft() } }

    /// - Returns: the number of removed libraries.
    func removeLeft() async throws -> Int {
        let left = try await staging.database.read { try LibraryGenerations($0).left(limit: Self.libraries) }
        var (count, batches) = (0, batches)
        // An import that begins from now on makes another one.
        for library in left where library.owner.flatMap(tasks.task(of:)) != .importing {
            repeat {
                guard batches > 0 else { return count }
                batches -= 1
            } while try await staging.removeBatch(of: library.id)
            count += 1
        }
        return count
    }
}
