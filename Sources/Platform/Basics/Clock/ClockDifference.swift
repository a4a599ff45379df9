extension UnixTime {
    /// Returns by how much the clock that showed this time is ahead of this machine's, at least; negative if it is behind.
    ///
    /// A response may have been on its way for any part of a call, so a time inside of the call shows no difference.
    ///
    /// - Parameters:
    ///   - begin: the time of this machine before the other clock was read.
    ///   - end: the time of this machine after it.
    ///   - resolution: the unit to which this time was rounded down, such as a second in an HTTP `Date`.
    package func clockDifference(
        between begin: UnixTime, and end: UnixTime, resolution: Duration = .zero
    ) -> Duration {
        if self > end { return duration(since: end) }
        return min(.zero, adding(resolution).duration(since: begin))
    }
}
