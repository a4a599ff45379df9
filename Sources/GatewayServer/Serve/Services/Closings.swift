import Basics

/// What has been opened, each with what closes it.
final class Closings: Sendable {
    private let closings = Lock<[@Sendable () -> Void]>([])

    func add(_ close: @escaping @Sendable () -> Void) {
        closings.withLock { $0.append(close) }
    }

    /// Closes everything, the newest first.
    func close() {
        for close in closings.withLock({ closings in
            defer { closings = [] }
            return closings.reversed()
        }) { close() }
    }
}
