import Basics

/// A backup of a schedule: one that is in progress, or its result.
struct ScheduledRun: Sendable, Equatable {
    enum State: Int64, Sendable {
        case running = 1
        /// Complete, and kept at the destination.
        case kept = 2
        /// Complete, and removed by the rotation.
        case removed = 3
        case failed = 4
    }

    let id: Int64
    /// The name of the archive at the destination.
    let archive: String
    var state = State.running
    let startedAt: UnixTime
    var multipartID: String?
    var result = Result()

    /// The result of a complete run.
    struct Result: Sendable, Equatable {
        var finishedAt: UnixTime?
        var duration: Duration = .zero
        /// The size of the archive in bytes.
        var size: Int64 = 0
        var objects = 0
        /// The number of objects that are not intact in the archive.
        var lostObjects = 0
    }
}
