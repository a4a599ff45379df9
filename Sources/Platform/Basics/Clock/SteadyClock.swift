/// A clock that ignores steps of the wall clock by more than a day, for periods of hours or days that follow an activity, such as
/// an upload's session: they end after that time, and not because somebody set the clock.
///
/// It is the wall clock minus all such steps. Its stored times stay comparable across restarts; people see them converted to the
/// wall clock.
package struct SteadyClock: WallClock {
    private let clockGuard: ClockGuard

    init(_ clockGuard: ClockGuard) {
        self.clockGuard = clockGuard
    }

    package func now() -> UnixTime {
        UnixTime(microseconds: clockGuard.steadyTime().time)
    }

    /// Converts a time of this clock to the wall clock.
    package func wallTime(of time: UnixTime) -> UnixTime {
        time.adding(microseconds: clockGuard.steadyTime().shift)
    }
}
