/// The differences between an engine's files and the database after an unclean shutdown.
package struct StoreReconciliation: Sendable, Equatable {
    /// Files of requests that did not commit, and old ones of uploads in progress without a row.
    package var removed = 0
    /// Finished objects' files without a row: moved to `quarantine/`, never deleted.
    package var quarantined = 0
    /// Rows whose file is missing. They are marked but not removed, and valid again if a later start finds the file.
    package var lost = 0
    /// The folders and files that could not be examined or moved, as sentences with the path; at most ``keptFailures``. They have
    /// no consequence: an object in an unreadable folder is not missing.
    package var failures: [String] = []
    /// The number of failures, including those beyond ``keptFailures``.
    package var failureCount = 0

    package static let keptFailures = 20

    package init(removed: Int = 0, quarantined: Int = 0, lost: Int = 0) {
        self.removed = removed
        self.quarantined = quarantined
        self.lost = lost
    }

    /// Adds the differences of another engine.
    package mutating func add(_ other: StoreReconciliation) {
        removed += other.removed
        quarantined += other.quarantined
        lost += other.lost
        failures = Array((failures + other.failures).prefix(Self.keptFailures))
        failureCount += other.failureCount
    }

    package mutating func failed(_ path: String, _ error: any Error) {
        failureCount += 1
        if failures.count < Self.keptFailures { failures.append("\(path): \(error)") }
    }
}
