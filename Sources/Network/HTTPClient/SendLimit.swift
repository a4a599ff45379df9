import Basics
import Foundation

/// A limit on the bytes that all connections that share it send in a second. It may change while they send.
package final class SendLimit: Sendable {
    private struct State {
        /// Bytes that may be sent now; negative where more were sent.
        var allowance: Double = 0
        var time: ContinuousClock.Instant
    }

    /// The longest wait before a connection asks whether it was cancelled.
    private static let slice = Duration.milliseconds(100)

    private let rate: @Sendable () -> Int64?
    private let state: Lock<State>

    /// - Parameter rate: bytes a second, at least 1; `nil` = without a limit. It is asked several times a second.
    package init(_ rate: @escaping @Sendable () -> Int64?) {
        self.rate = rate
        state = Lock(State(time: .now))
    }

    /// A limit that stays as it is.
    package convenience init(bytesPerSecond: Int64) { self.init { bytesPerSecond } }

    /// Waits on this thread until something may be sent.
    ///
    /// - Parameters:
    ///   - wanted: bytes that the connection could send, above 0.
    ///   - isOver: ends the wait.
    /// - Returns: bytes that may be sent now, 1 to `wanted`.
    func take(_ wanted: Int, unless isOver: () -> Bool) -> Int {
        while !isOver() {
            guard let rate = rate().map({ Double(max(1, $0)) }) else { return wanted }
            let granted = state.withLock { state -> Int in
                let now = ContinuousClock.now
                // What was not sent for a while cannot be made up for in one burst.
                state.allowance = min(state.allowance + rate * ((now - state.time) / .seconds(1)), rate / 4)
                state.time = now
                guard state.allowance >= min(1, rate / 4) else { return 0 }
                let granted = max(1, min(wanted, Int(max(1, rate / 8))))
                state.allowance -= Double(granted)
                return granted
            }
            if granted > 0 { return granted }
            usleep(UInt32(min(Self.slice / .microseconds(1), max(1000, 1_000_000 / rate))))
        }
        return wanted
    }
}
