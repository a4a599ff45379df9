package import Basics

/// A removal of data beyond its retention, which runs once a minute.
package struct Sweep: Sendable {
    /// The removed things, in the log and in the metrics' label `kind`, e.g. `member_sessions`.
    package let kind: String
    /// Whether it removes files of the object store, or rows that say whose a file is. It then waits while the database may be older
    /// than the store: a file might be the only copy.
    package let removesObjects: Bool
    /// Whether each gateway runs it, because it is also about what is in memory. Of the others one gateway of all with the same database
    /// runs each round.
    package let isLocal: Bool
    /// Whether it only runs while the clock is trusted.
    package let needsPermit: Bool
    private let remove: @Sendable (DeletionPermit?) async throws -> Int

    /// - Parameters:
    ///   - removesObjects: see ``removesObjects``.
    ///   - run: removes a limited number of things by their age, and returns the number. The permit exists only while the clock is
    ///     trusted.
    package init(
        _ kind: String, removesObjects: Bool = false, run: @escaping @Sendable (DeletionPermit) async throws -> Int
    ) {
        self.kind = kind
        self.removesObjects = removesObjects
        isLocal = false
        needsPermit = true
        remove = { permit in
            guard let permit else { return 0 }
            return try await run(permit)
        }
    }

    private init(
        _ kind: String, removesObjects: Bool, isLocal: Bool,
        always run: @escaping @Sendable (DeletionPermit?) async throws -> Int
    ) {
        self.kind = kind
        self.removesObjects = removesObjects
        self.isLocal = isLocal
        needsPermit = false
        remove = run
    }

    /// Returns a sweep that also removes things for other reasons than their age.
    ///
    /// - Parameters:
    ///   - isLocal: see ``isLocal``.
    ///   - run: receives `nil` while nothing may be removed by its age.
    package static func always(
        _ kind: String, removesObjects: Bool = false, isLocal: Bool = false,
        run: @escaping @Sendable (DeletionPermit?) async throws -> Int
    ) -> Sweep {
        Sweep(kind, removesObjects: removesObjects, isLocal: isLocal, always: run)
    }

    /// Returns work that removes nothing, but depends on ages as removals do.
    ///
    /// - Parameter run: receives `nil` while the clock is not trusted.
    package static func removingNothing(
        _ kind: String, run: @escaping @Sendable (DeletionPermit?) async throws -> Void
    ) -> Sweep {
        .always(kind) { permit in
            try await run(permit)
            return 0
        }
    }

    /// Removes what is due, and returns the number of removed things.
    package func run(_ permit: DeletionPermit?) async throws -> Int { try await remove(permit) }
}
