import Foundation

/// Decides whether a wall clock may be believed by what deletes: everything that is removed because of its age asks for a
/// ``DeletionPermit``, which only a guard makes, and only while its clock is confirmed.
///
/// It looks at the clock whenever it is asked for a time, so that no time is judged by a clock whose step was not seen.
package final class ClockGuard: Sendable {
    package enum Change: Sendable, Equatable {
        /// By so many seconds; `isConfirmed` where that took the clock back to where it was.
        case stepped(seconds: Int64, isConfirmed: Bool)
        /// The clock moved like the machine's count for long enough.
        case confirmedByTime
    }

    package struct Status: Sendable, Equatable {
        package let now: UnixTime
        /// Whether what is old enough is deleted.
        package let isConfirmed: Bool
        /// How far the clock is from where it was when it was last confirmed; 0 where it is confirmed.
        package let stepSeconds: Int64
        /// Time until the clock is confirmed, if it does not step again; 0 where it is.
        package let remainingSeconds: Int64
    }

    private struct State {
        var history: ClockHistory
        /// Steps that this process saw.
        var steps = 0
    }

    package static let defaultConfirmation = Duration.hours(12)

    private let clock: any MachineClock
    /// Microseconds.
    private let confirmation: Int64
    private let observer = Lock<(@Sendable (Change) -> Void)?>(nil)
    private let state: Lock<State>

    /// - Parameters:
    ///   - record: what ``record()`` gave an earlier process; `nil` where there is none.
    ///   - lastSeen: where there is no record that can be read, a time that the clock is known to have shown.
    ///   - confirmation: how long a clock has to move like the machine's count until it is believed.
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

    /// Has `body` called whenever a look finds a change, on the thread that looks.
    package func onChange(_ body: @escaping @Sendable (Change) -> Void) {
        observer.withLock { $0 = body }
    }

    /// What the next process has to know; to be saved after each change, and every few minutes.
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

    /// The time that upload sessions are measured by.
    package var steady: SteadyClock { SteadyClock(self) }

    /// - Returns: `nil` while the clock is not confirmed: nothing may be deleted for its age.
    package func permit() -> DeletionPermit? {
        let state = look()
        return state.history.isConfirmed ? DeletionPermit(self, steps: state.steps, history: state.history) : nil
    }

    /// Believes the clock, at an operator's word.
    ///
    /// - Parameter step: as ``Status/stepSeconds`` has it.
    /// - Returns: `false` where the clock has stepped since; nothing changes then.
    package func confirm(step: Int64) -> Bool {
        guard status.stepSeconds == step else { return false }
        return state.withLock { state in
            guard state.history.isConfirmed || state.history.unconfirmedStep / 1_000_000 == step else { return false }
            state.history.confirm()
            return true
        }
    }

    /// - Throws: ``ClockStepped`` where the clock is another one than when a permit was given.
    func history(after steps: Int) throws(ClockStepped) -> ClockHistory {
        let state = look()
        guard state.steps == steps, state.history.isConfirmed else { throw ClockStepped() }
        return state.history
    }

    /// - Returns: the steady time and what the clock is ahead of it, in microseconds.
    func steadyTime() -> (time: Int64, shift: Int64) {
        let history = look().history
        return (history.steady, history.shift)
    }

    private func look() -> State {
        let (state, change) = state.withLock { state -> (State, Change?) in
            let wasConfirmed = state.history.isConfirmed
            // Read in here, so that looks come in the order of their readings.
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

/// The clock stepped while something was being deleted by it.
package struct ClockStepped: Error, CustomStringConvertible {
    package var description: String { "the clock stepped, and nothing is deleted until it is confirmed" }
}
