package import Basics

/// A clock that reports each reading, so that a test can wait for the next turn of work that reads the time.
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
