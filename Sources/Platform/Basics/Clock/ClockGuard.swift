import FoundationEssentials
import Synchronization

/// Decides whether the wall clock can be trusted for deletions: code that removes data because of its age needs a
/// ``DeletionPermit``, which only a guard issues, and only while its clock is confirmed.
///
/// Every request for a time reads the clock first, so a step is noticed before any time is compared with it.
package final class ClockGuard: Sendable {
    package enum Change: Sendable, Equatable {
        /// The clock stepped by this number of seconds; `isConfirmed` if the step returned it to the confirmed time.
        case stepped(seconds: Int64, isConfirmed: Bool)
        /// The clock kept pace with the time since boot for the confirmation period.
        case confirmedByTime
    }

    package struct Status: Sendable, Equatable {
        package let now: UnixTime
        /// Whether old data may be deleted.
        package let isConfirmed: Bool
        /// Distance of the clock from the time it should show if it had not stepped since it was last confirmed; 0 while confirmed.
        package let stepSeconds: Int64
        /// Time until the clock is confirmed if it does not step again; 0 while confirmed.
        package let remainingSeconds: Int64
    }

    private struct State {
        var history: ClockHistory
        /// The number of steps that this process saw.
        var steps = 0
    }

    package static let defaultConfirmation = Duration.hours(12)

    private let clock: any MachineClock
    /// In microseconds.
    private let confirmation: Int64
    private let observer = Lock<(@Sendable (Change) -> Void)?>(nil)
    private let state: Lock<State>

    /// - Parameters:
    ///   - record: the result of ``record()`` in an earlier process; `nil` at the first start.
    ///   - lastSeen: a time that the clock is known to have shown, used if no record can be read.
    ///   - confirmation: how long the clock has to keep pace with the time since boot to be confirmed.
    package init(
        record: [UInt8]? = nil, lastSeen: UnixTime? = nil, clock: any MachineClock,
        confirmation: Duration = ClockGuard.defaultConfirmation
    ) {
        self.clock = clock
        self.confirmation = confirmation.wholeSeconds * 1_000_000
        var history =
            record.flatMap { try? JSONDecoder().decode(ClockHistory.self, from: Data($0)) }
            ?? lastSeen.map { ClockHistory(wall: $0.microseconds, sinceBoot: .max) }
            ?? ClockHistory(wall: clock.now().microseconds, sinceBoot: clock.sinceBoot())
        history.resume(wall: clock.now().microseconds, sinceBoot: clock.sinceBoot())
        state = Lock(State(history: history))
    }

    /// Sets the function that is called for each change of the clock, on the thread that noticed it.
    package func onChange(_ body: @escaping @Sendable (Change) -> Void) {
        observer.withLock { $0 = body }
    }

    /// Returns the state for the next process, as JSON. Saved after each change and every few minutes.
    package func record() throws -> [UInt8] {
        [UInt8](try JSONEncoder().encode(look().history))
    }

    package var status: Status {
        let history = look().history
        return Status(
            now: UnixTime(microseconds: history.wall), isConfirmed: history.isConfirmed,
            stepSeconds: history.isConfirmed ? 0 : history.unconfirmedStep / 1_000_000,
            remainingSeconds: history.isConfirmed ? 0 : max(0, confirmation - history.consistentFor) / 1_000_000)
    }

    /// The clock for the duration of upload sessions.
    package var steady: SteadyClock { SteadyClock(self) }

    /// Returns a permit to delete by age, or `nil` while the clock is not confirmed.
    package func permit() -> DeletionPermit? {
        let state = look()
        return state.history.isConfirmed ? DeletionPermit(self, steps: state.steps, history: state.history) : nil
    }

    /// Confirms the clock at an operator's request.
    ///
    /// - Parameter step: the ``Status/stepSeconds`` that the operator saw.
    /// - Returns: `false`, without any change, if the clock stepped since then.
    package func confirm(step: Int64) -> Bool {
        guard status.stepSeconds == step else { return false }
        return state.withLock { state in
            guard state.history.isConfirmed || state.history.unconfirmedStep / 1_000_000 == step else { return false }
            state.history.confirm()
            return true
        }
    }

    /// - Throws: ``ClockStepped`` if the clock stepped since the permit was issued, or is not confirmed.
    func history(after steps: Int) throws(ClockStepped) -> ClockHistory {
        let state = look()
        guard state.steps == steps, state.history.isConfirmed else { throw ClockStepped() }
        return state.history
    }

    /// - Returns: the steady time, and by how much the wall clock is ahead of it, in microseconds.
    func steadyTime() -> (time: Int64, shift: Int64) {
        let history = look().history
        return (history.steady, history.shift)
    }

    private func look() -> State {
        let (state, change) = state.withLock { state -> (State, Change?) in
            let wasConfirmed = state.history.isConfirmed
            // Inside the lock, so that readings are compared in their order.
            let moved = state.history.look(
                wall: clock.now().microseconds, sinceBoot: clock.sinceBoot(), confirmation: confirmation)
            let isConfirmed = state.history.isConfirmed
            guard let moved else { return (state, isConfirmed && !wasConfirmed ? .confirmedByTime : nil) }
            state.steps += 1
            return (state, .stepped(seconds: moved / 1_000_000, isConfirmed: isConfirmed))
        }
        if let change, let observer = observer.withLock({ $0 }) { observer(change) }
        return state
    }
}

/// The clock stepped during a deletion that used it.
package struct ClockStepped: Error, CustomStringConvertible {
    package var description: String { "the clock stepped, and nothing is deleted until it is confirmed" }
}
