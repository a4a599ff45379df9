import Basics
import Synchronization

/// A rate limit that several connections share when sending or receiving. It may change meanwhile.
package final class RateLimit: Sendable {
    private struct State {
        /// The number of bytes that may be transferred now; negative if more were.
        var allowance: Double = 0
        var time: ContinuousClock.Instant
    }

    /// The longest wait before a connection checks whether it was cancelled.
    private static let slice = Duration.milliseconds(100)

    private let rate: @Sendable () -> Int64?
    private let state: Lock<State>

    /// - Parameter rate: returns bytes per second, at least 1; `nil` = unlimited. Called several times per second.
    package init(_ rate: @escaping @Sendable () -> Int64?) {
        self.rate = rate
        state = Lock(State(time: .now))
    }

    /// A constant limit.
    package convenience init(bytesPerSecond: Int64) { self.init { bytesPerSecond } }

    /// Waits until bytes may be transferred.
    ///
    /// - Parameters:
    ///   - wanted: bytes that the connection could transfer, above 0.
    ///   - isOver: ends the wait.
    /// - Returns: the number of bytes that may be transferred now, 1 to `wanted`.
    func take(_ wanted: Int, unless isOver: () -> Bool) async -> Int {
        while !isOver() {
            guard let rate = rate().map({ Double(max(1, $0)) }) else { return wanted }
            let granted = state.withLock { state -> Int in
                let now = ContinuousClock.now
                // Limits the burst after a pause.
                state.allowance = min(state.allowance + rate * ((now - state.time) / .seconds(1)), rate / 4)
                state.time = now
                guard state.allowance >= min(1, rate / 4) else { return 0 }
                let granted = max(1, min(wanted, Int(max(1, rate / 8))))
                state.allowance -= Double(granted)
                return granted
            }
            if granted > 0 { return granted }
            // A canceled task does not sleep.
            guard (try? await Task.sleep(for: min(Self.slice, .seconds(max(0.001, 1 / rate))))) != nil else {
                return wanted
            }
        }
        return wanted
    }
}
