/// What was found after an unclean end, where the data directory and the database did not agree.
package struct StoreReconciliation: Sendable, Equatable {
    /// Files of requests that did not come to their commit, and old ones of uploads under way that no row speaks of.
    package var removed = 0
    /// Finished objects' files that no row speaks of: moved to `quarantine/`, never deleted.
    package var quarantined = 0
    /// Rows whose file is gone. They are marked, and not removed: where a later start finds the file, they hold again.
    package var lost = 0
    /// What could not be looked at or moved, as sentences with the path; at most ``keptFailures``. Nothing was concluded from
    /// it: an object whose folder cannot be read is not an object that is gone.
    package var failures: [String] = []
    /// All failures, also those beyond ``keptFailures``.
    package var failureCount = 0

    package static let keptFailures = 20

    mutating func failed(_ path: String, _ error: any Error) {
        failureCount += 1
        if failures.count < Self.keptFailures { failures.append("\(path): \(error)") }
    }
}
