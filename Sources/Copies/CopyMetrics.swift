import Synchronization

/// What the workers counted; read at any time, by any thread.
public final class CopyMetrics: Sendable {
    public struct Counts: Sendable, Hashable {
        /// Items that came to their end.
        public var succeeded = 0
        public var skipped = 0
        public var failed = 0
        public var canceled = 0
        /// Attempts that failed and are made again.
        public var retries = 0
        /// Sent to a destination, or written there.
        public var bytes = 0
        /// Items that are being copied now.
        public var copying = 0

        mutating func count(_ end: CopyItemState) {
            switch end {
            case .succeeded: succeeded += 1
            case .skipped: skipped += 1
            case .failed: failed += 1
            case .canceled: canceled += 1
            case .queued, .copying: break
            }
        }
    }

    private let counts = Mutex(Counts())

    public var snapshot: Counts { counts.withLock { $0 } }

    func update(_ change: (inout Counts) -> Void) {
        counts.withLock { change(&$0) }
    }
}
