import Platform

/// What the scrubber counted; read at any time, by any thread.
public final class ScrubMetrics: Sendable {
    public struct Counts: Sendable, Hashable {
        public var bytes = 0
        public var objects = 0
        /// That came to their end.
        public var passes = 0
        public var failures = 0
        /// How many objects are bad now.
        public var bad = 0
    }

    private let counts = Lock(Counts())

    public var snapshot: Counts { counts.withLock { $0 } }

    func update(_ change: (inout Counts) -> Void) {
        counts.withLock { change(&$0) }
    }
}
