import Basics
import Synchronization

/// The permission to take a backup, which one caller has at a time.
package final class BackupTurn: Sendable {
    private let isTaken = Lock(false)

    package init() {}

    /// Returns whether the caller has the turn now; then it calls ``end()``.
    func begin() -> Bool {
        isTaken.withLock { isTaken in
            defer { isTaken = true }
            return !isTaken
        }
    }

    func end() {
        isTaken.withLock { $0 = false }
    }
}
