import Basics

/// The time that an organization's objects stay in the trash.
struct TrashGrace: Sendable, Hashable {
    /// The default for organizations without a setting.
    static let defaultDays: Int32 = 7
    /// The shortest time in the trash. URLs issued before with a longer lifetime end with the object.
    private static let longestDownload = Duration.hours(1)

    /// The time in days; 0 = objects are deleted at once.
    let days: Int32

    /// Returns the time before which trashed objects are deleted.
    func limit(at now: UnixTime) -> UnixTime { now.subtracting(length) }

    /// Returns the time at which an object that was trashed at `time` is deleted.
    func end(from time: UnixTime) -> UnixTime { time.adding(length) }

    private var length: Duration { max(.days(Int64(days)), Self.longestDownload) }
}
