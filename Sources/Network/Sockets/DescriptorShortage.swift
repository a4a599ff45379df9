import Basics

/// Tells once for each episode that the process has no file descriptor left: one lasts while connections are turned away
/// for that, and for a minute more.
package final class DescriptorShortage: Sendable {
    private static let quiet = Duration.seconds(60)

    private let lastNoted = Lock<ContinuousClock.Instant?>(nil)
    private let onBegin: @Sendable () -> Void

    /// - Parameter onBegin: called as an episode begins, on whichever thread found out.
    package init(onBegin: @escaping @Sendable () -> Void = {}) {
        self.onBegin = onBegin
    }

    /// Connections wait that cannot be taken.
    package func noted(at now: ContinuousClock.Instant) {
        let begins = lastNoted.withLock { last in
            defer { last = now }
            return last.map { now - $0 >= Self.quiet } ?? true
        }
        if begins { onBegin() }
    }
}
