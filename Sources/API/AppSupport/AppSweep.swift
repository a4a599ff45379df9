import Basics

/// A removal of data beyond its retention, which runs once a minute.
package struct AppSweep: Sendable {
    /// The removed things, in the log and in the metrics' label `kind`, e.g. `member_sessions`.
    package let kind: String
    /// Removes a limited number of them and returns it. The permit exists only while the clock is trusted.
    package let run: @Sendable (DeletionPermit) async throws -> Int

    package init(_ kind: String, run: @escaping @Sendable (DeletionPermit) async throws -> Int) {
        self.kind = kind
        self.run = run
    }
}
