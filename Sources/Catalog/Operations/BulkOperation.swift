import Basics

/// A deletion or restoration of many objects, which runs in the background.
struct BulkOperation: Sendable, Equatable {
    /// The kind, with its number in the `.proto` file.
    enum Kind: Int64, Sendable {
        case delete = 1
        case restore = 2
        case purge = 3
        /// The restoration of what another operation moved to the trash.
        case undo = 4

        /// Whether the objects leave the trash for the lists.
        var restores: Bool { self == .restore || self == .undo }
    }

    /// The state, with its number in the `.proto` file.
    enum State: Int64, Sendable {
        case running = 1
        case succeeded = 2
        case canceled = 3
    }

    let id: String
    let organizationID: Int64
    let kind: Kind
    /// The operation that an ``Kind/undo`` reverts; `nil` for the other kinds.
    var undoneID: String?
    /// The text in the request; ages in it refer to ``createdAt``. Empty for an ``Kind/undo``.
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
    /// The objects deleted or restored so far.
    var processed = Amount()
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
