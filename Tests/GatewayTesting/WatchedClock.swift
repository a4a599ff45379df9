import Basics

/// A clock that tells of each look at it, so that a test waits for the next turn of work that asks for the time.
package struct WatchedClock: WallClock {
    private let clock: any WallClock
    private let looks: AsyncStream<Void>.Continuation

    package init(_ clock: any WallClock, looks: AsyncStream<Void>.Continuation) {
        self.clock = clock
        self.looks = looks
    }

    package func now() -> UnixTime {
        looks.yield()
        return clock.now()
    }
}
