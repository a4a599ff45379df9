import Glibc
import Synchronization

/// The source of the time of day; everything reads it through this protocol, so that tests can set it.
package protocol WallClock: Sendable {
    func now() -> UnixTime
}

/// A wall clock together with the time since boot, which nobody can set.
package protocol MachineClock: WallClock {
    /// Returns the microseconds since the machine was started, including the time it was suspended.
    func sinceBoot() -> Int64
}

/// The machine's clock.
package struct SystemClock: MachineClock {
    package init() {}

    package func now() -> UnixTime {
        UnixTime(microseconds: Self.read(CLOCK_REALTIME))
    }

    package func sinceBoot() -> Int64 {
        Self.read(CLOCK_BOOTTIME)
    }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
}

/// A clock that a test moves.
package final class ManualClock: MachineClock {
    private struct State {
        var wall: UnixTime
        var sinceBoot: Int64 = 3_600_000_000
    }

    private let state: Lock<State>

    package init(_ start: UnixTime = UnixTime(seconds: 1_767_225_600)) {
        state = Lock(State(wall: start))
    }

    package func now() -> UnixTime {
        state.withLock { $0.wall }
    }

    package func sinceBoot() -> Int64 {
        state.withLock { $0.sinceBoot }
    }

    /// Lets time pass.
    package func advance(seconds: Int64) {
        state.withLock { state in
            state.wall = state.wall.adding(seconds: seconds)
            state.sinceBoot += seconds * 1_000_000
        }
    }

    /// Sets the wall clock, forward or back, while no time passes.
    package func step(seconds: Int64) {
        state.withLock { $0.wall = $0.wall.adding(seconds: seconds) }
    }

    /// Restarts the machine: it was started a minute ago.
    package func reboot() {
        state.withLock { $0.sinceBoot = 60_000_000 }
    }
}

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
