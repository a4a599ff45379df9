import AppSupport
import Database

/// The removal of libraries that an import left when the process or the disk failed.
struct LibrarySweep: Sendable {
    private static let libraries = 100

    let staging: LibraryStaging
    let tasks: LibraryTasks

    var sweep: AppSweep { AppSweep("archive_libraries") { _ in try await removeLeft() } }

    /// - Returns: the number of removed libraries.
    func removeLeft() async throws -> Int {
        let left = try await staging.database.read { try LibraryGenerations($0).left(limit: Self.libraries) }
        var count = 0
        // An import that begins from now on makes another one.
        for library in left where tasks.task(of: library.owner) != .importing {
            await staging.discard(library.id)
            count += 1
        }
        return count
    }
}
