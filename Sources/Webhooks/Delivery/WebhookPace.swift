/// How fast a webhook is sent to: a receiver that takes nothing at all is asked one event at a time, and seldom, however
/// many wait. Pure.
struct WebhookPace: Sendable, Hashable {
    /// Failed attempts one after the other, of whatever events, from which on the receiver counts as down.
    private static let patience = 10
    private static let longestPause = Duration.seconds(30)

    private let concurrency: Int
    private var failures = 0

    init(concurrency: Int) {
        self.concurrency = concurrency
    }

    mutating func succeeded() { failures = 0 }

    mutating func failed() { failures += 1 }

    var isDown: Bool { failures >= Self.patience }

    /// Requests that may be under way.
    var slots: Int { isDown ? 1 : concurrency }

    /// From the end of an attempt to the beginning of the next.
    var pause: Duration {
        isDown ? min(Self.longestPause, .seconds(1 << min(failures - Self.patience, 8))) : .zero
    }
}
