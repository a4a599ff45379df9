import Basics

/// The counters of one call.
struct CallUsage {
    var traffic = CallTraffic()
    var arrival = TransferRate()
    /// The number of bytes that the listener counts for this call.
    var countedBytes = 0
    /// The progress since the server began to stop; `nil` before that.
    var progress: ProgressWatch?
}

/// The rate at which a client sends a message, or receives a response.
struct TransferRate {
    /// The time since which bytes are expected to move, at most one period ago, and the number that had moved by then.
    private var start: (time: UInt64, moved: Int)?

    /// Handles that no bytes are expected to move.
    mutating func pause() { start = nil }

    /// Whether fewer bytes moved in a whole period than clients must send or receive.
    ///
    /// - Parameters:
    ///   - moved: the number of bytes that have moved.
    ///   - floor: the least number in a period if the limits allow any rate.
    mutating func isTooSlow(_ moved: Int, at now: UInt64, _ limits: LifecycleLimits, floor: Double = 0) -> Bool {
        guard let start else {
            self.start = (now, moved)
            return false
        }
        let elapsed = now - start.time
        guard elapsed >= limits.stall.loopTime else { return false }
        let least = max(floor, Double(limits.minimumRate) * Double(elapsed) / 1e9)
        guard Double(moved - start.moved) >= least else { return true }
        self.start = (now, moved)
        return false
    }
}

/// Decides whether something has made no progress for so long that a server that stops does not wait for it.
struct ProgressWatch {
    /// The interval of checks, in nanoseconds.
    static let interval: UInt64 = 250_000_000
    /// The time without progress, in nanoseconds: less than two seconds pass until the end is noticed.
    static let limit: UInt64 = 1_250_000_000

    private var since: UInt64
    private var mark: Int?

    init(at now: UInt64) {
        since = now
    }

    /// - Parameter mark: a number that changes with each progress.
    mutating func isIdle(_ mark: Int, at now: UInt64) -> Bool {
        guard mark == self.mark else {
            (self.mark, since) = (mark, now)
            return false
        }
        return now &- since >= Self.limit
    }
}
