import Basics
import Synchronization

/// Reports once for each episode that the process has no free file descriptor; an episode lasts while connections are refused for
/// that reason, and for one minute more.
package final class DescriptorShortage: Sendable {
    private static let quiet = Duration.seconds(60)

    private let lastNoted = Lock<ContinuousClock.Instant?>(nil)
    private let onBegin: @Sendable () -> Void

    /// - Parameter onBegin: called at the beginning of an episode, on the thread that noticed it.
    package init(onBegin: @escaping @Sendable () -> Void = {}) {
        self.onBegin = onBegin
    }

    /// Records that waiting connections cannot be accepted.
    package func noted(at now: ContinuousClock.Instant) {
        let begins = lastNoted.withLock { last in
            defer { last = now }
            return last.map { now - $0 >= Self.quiet } ?? true
        }
        if begins { onBegin() }
    }
}
