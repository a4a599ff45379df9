import Basics

/// How long an organization's objects stay in the trash.
struct TrashGrace: Sendable, Hashable {
    /// Without a setting of the organization.
    static let defaultDays: Int32 = 7
    /// The longest lifetime of a presigned URL. Nothing is swept from the trash before those of its time have ended.
    private static let longestDownload = Duration.hours(1)

    /// 0 = objects are deleted at once.
    let days: Int32

    /// What was trashed before is deleted.
    func limit(at now: UnixTime) -> UnixTime { now.subtracting(length) }

    /// When an object that was trashed at `time` is deleted.
    func end(from time: UnixTime) -> UnixTime { time.adding(length) }

    private var length: Duration { max(.days(Int64(days)), Self.longestDownload) }
}
