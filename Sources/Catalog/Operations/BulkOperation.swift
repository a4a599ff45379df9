import Basics

/// A deletion of all objects that match a filter, which the gateway works off in the background.
struct BulkOperation: Sendable, Equatable {
    /// The state, with its number in the `.proto` file.
    enum State: Int64, Sendable {
        case running = 1
        case succeeded = 2
        case canceled = 3
    }

    let id: String
    let organizationID: Int64
    /// The text of the request; ages in it count to ``createdAt``.
    let filter: String
    let reason: String
    /// The author, as the audit log names them.
    let actor: String
    let createdAt: UnixTime
    /// Objects from this position on came later, and stay.
    let firstPosition: Int64
    var state = State.running
    /// Objects from this position on are done.
    var nextPosition: Int64
    /// What was removed so far.
    var removed = Amount()
    /// `nil` = it is running.
    var finishedAt: UnixTime?

    /// How much of the objects was looked at, 0 to 100.
    var percent: Int32 {
        guard state != .succeeded, firstPosition > 0 else { return 100 }
        return Int32(clamping: (firstPosition - nextPosition) * 100 / firstPosition)
    }

    mutating func finish(as state: State, at now: UnixTime) {
        self.state = state
        finishedAt = now
    }
}
