/// A clock that goes on as before where the wall clock steps by more than a day: what lasts some hours or days from an
/// activity on, such as an upload's session, ends after that time, and not because somebody set the clock.
///
/// It is the wall clock less all such steps. Kept times of it stay comparable across restarts, and are shown to people as
/// the wall clock has them now.
package struct SteadyClock: WallClock {
    private let clockGuard: ClockGuard

    init(_ clockGuard: ClockGuard) {
        self.clockGuard = clockGuard
    }

    package func now() -> UnixTime {
        UnixTime(microseconds: clockGuard.steadyTime().time)
    }

    /// What the wall clock will show, or showed, at a time of this clock.
    package func wallTime(of time: UnixTime) -> UnixTime {
        time.adding(microseconds: clockGuard.steadyTime().shift)
    }
}
