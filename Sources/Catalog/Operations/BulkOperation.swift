import Basics

/// A deletion of all objects that match a filter, which runs in the background.
struct BulkOperation: Sendable, Equatable {
    /// The state, with its number in the `.proto` file.
    enum State: Int64, Sendable {
        case running = 1
        case succeeded = 2
        case canceled = 3
    }

    let id: String
    let organizationID: Int64
    /// The text in the request; ages in it refer to ``createdAt``.
    let filter: String
    let reason: String
    /// The author, as in the audit log.
    let actor: String
    let createdAt: UnixTime
    /// The position from which on objects are newer than the operation, and stay.
    let firstPosition: Int64
    var state = State.running
    /// The position from which on objects have been processed.
    var nextPosition: Int64
    /// The objects removed so far.
    var removed = Amount()
    /// The end of the operation; `nil` = it is running.
    var finishedAt: UnixTime?

    /// The processed share of the objects, 0 to 100.
    var percent: Int32 {
        guard state != .succeeded, firstPosition > 0 else { return 100 }
        return Int32(clamping: (firstPosition - nextPosition) * 100 / firstPosition)
    }

    mutating func finish(as state: State, at now: UnixTime) {
        self.state = state
        finishedAt = now
    }
}
