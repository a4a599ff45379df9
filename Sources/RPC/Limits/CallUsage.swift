import Basics

/// The counters of one call.
struct CallUsage {
    var traffic = CallTraffic()
    var arrival = ArrivalRate()
    /// The number of bytes that the listener counts for this call.
    var countedBytes = 0
    /// The progress since the server began to stop; `nil` before that.
    var progress: ProgressWatch?
}

/// The rate at which a message arrives.
struct ArrivalRate {
    /// The time since which the message is arriving, at most one period ago, and the number of bytes received by then.
    private var start: (time: UInt64, received: Int)?

    /// Handles that no message is arriving.
    mutating func pause() { start = nil }

    /// Whether fewer bytes arrived in a whole period than clients must send.
    ///
    /// - Parameter received: the number of bytes of the request that have arrived.
    mutating func isTooSlow(_ received: Int, at now: UInt64, _ limits: LifecycleLimits) -> Bool {
        guard let start else {
            self.start = (now, received)
            return false
        }
        let elapsed = now - start.time
        guard elapsed >= limits.stall.loopTime else { return false }
        let least = Double(limits.minimumRate) * Double(elapsed) / 1e9
        guard Double(received - start.received) >= least else { return true }
        self.start = (now, received)
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
