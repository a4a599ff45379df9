/// The rate of requests to a webhook: a receiver that accepts nothing gets one request at a time, and seldom, however many events
/// wait. Pure.
struct WebhookPace: Sendable, Hashable {
    /// The number of consecutive failed attempts, of any events, after which the receiver counts as down.
    private static let failureLimit = 10
    private static let longestPause = Duration.seconds(30)

    private let concurrency: Int
    private var failures = 0

    init(concurrency: Int) {
        self.concurrency = concurrency
    }

    mutating func succeeded() { failures = 0 }

    mutating func failed() { failures += 1 }

    var isDown: Bool { failures >= Self.failureLimit }

    /// The number of parallel requests.
    var slots: Int { isDown ? 1 : concurrency }

    /// The pause between the end of an attempt and the beginning of the next.
    var pause: Duration {
        isDown ? min(Self.longestPause, .seconds(1 << min(failures - Self.failureLimit, 8))) : .zero
    }
}
