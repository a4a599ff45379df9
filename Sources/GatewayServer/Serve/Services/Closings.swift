import Basics
import Synchronization

/// A stack of functions that close what has been opened.
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
