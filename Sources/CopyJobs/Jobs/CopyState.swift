/// The state of a job, with its number in the `.proto` file.
package enum CopyJobState: Int64, Sendable, CaseIterable {
    case queued = 1
    case running
    case succeeded
    case partialFailed
    case failed
    case canceling
    case canceled

    package var isFinished: Bool {
        switch self {
        case .queued, .running, .canceling: false
        case .succeeded, .partialFailed, .failed, .canceled: true
        }
    }
}

/// The state of an item, with its number in the `.proto` file.
package enum CopyItemState: Int64, Sendable, CaseIterable {
    case queued = 1
    case copying
    case succeeded
    case failed
    /// The destination already had the object.
    case skipped
    case canceled

    package var isFinished: Bool {
        switch self {
        case .queued, .copying: false
        case .succeeded, .failed, .skipped, .canceled: true
        }
    }
}

/// The numbers of a job's items by state, from which the job's state follows.
struct CopyTally: Sendable, Hashable {
    private var counts: [CopyItemState: Int] = [:]
    /// The copied bytes of all items.
    var copiedBytes: Int64 = 0

    subscript(state: CopyItemState) -> Int {
        get { counts[state] ?? 0 }
        set { counts[state] = newValue }
    }

    /// Whether all items are finished.
    var isComplete: Bool { self[.queued] == 0 && self[.copying] == 0 }

    /// Returns the new state of a job that was in `state`: the same until all items are finished.
    ///
    /// A job whose items had all finished before the cancellation took effect is not canceled.
    func state(after state: CopyJobState) -> CopyJobState {
        guard isComplete, !state.isFinished else { return state }
        if self[.canceled] > 0 { return .canceled }
        if self[.failed] == 0 { return .succeeded }
        return self[.succeeded] + self[.skipped] > 0 ? .partialFailed : .failed
    }
}
