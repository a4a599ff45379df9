import Basics
import Database

/// The time during which a gateway looked for silent devices.
///
/// No device can call a gateway that does not run. A device that was last heard of before a pause is therefore not reported earlier
/// than if its silence had been interrupted by the pause. Only the latest pause counts.
struct SilenceWatch: Sendable, Hashable {
    /// The time between two looks from which on it is a pause.
    static let shortestPause = Duration.minutes(15)
    /// The time after which a look is recorded again.
    private static let recordInterval = Duration.minutes(5)

    /// The last look, to ``recordInterval``.
    private(set) var lookedAt: UnixTime
    /// The end of the latest pause, or the first look.
    private(set) var resumedAt: UnixTime
    /// The length of the latest pause; 0 before the first one.
    private(set) var pause: Duration

    /// Begins the watch.
    init(at now: UnixTime) {
        (lookedAt, resumedAt, pause) = (now, now, .zero)
    }

    /// Returns the watch with a look at `now`; `nil` if that is not worth a record.
    func looking(at now: UnixTime) -> SilenceWatch? {
        let gap = now.duration(since: lookedAt)
        // After the clock was set back, time continues from its new value.
        guard gap >= Self.recordInterval || gap < .zero else { return nil }
        var watch = self
        watch.lookedAt = now
        if gap >= Self.shortestPause { (watch.resumedAt, watch.pause) = (now, gap) }
        return watch
    }
}

extension SilenceWatch {
    init(_ row: Row) {
        lookedAt = row.time("looked_at")
        resumedAt = row.time("resumed_at")
        pause = .seconds(row.int64("pause_seconds"))
    }

    var pauseMicroseconds: Int64 { pause.wholeSeconds * 1_000_000 }
}
