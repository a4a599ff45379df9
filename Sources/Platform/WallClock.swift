import Foundation

/// What says how late it is; the only source of the time of day, so that a test can set it.
public protocol WallClock: Sendable {
    func now() -> UnixTime
}

/// The machine's clock.
public struct SystemClock: WallClock {
    public init() {}

    public func now() -> UnixTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return UnixTime(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }
}

/// A clock that a test moves.
public final class ManualClock: WallClock {
    private let current: Lock<UnixTime>

    public init(_ start: UnixTime = UnixTime(seconds: 1_767_225_600)) {
        current = Lock(start)
    }

    public func now() -> UnixTime {
        current.withLock { $0 }
    }

    public func advance(seconds: Int64) {
        current.withLock { $0 = $0.adding(seconds: seconds) }
    }
}
