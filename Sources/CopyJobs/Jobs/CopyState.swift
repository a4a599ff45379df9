/// Where a job stands; the numbers are the contract's.
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

/// Where one of its items stands; the numbers are the contract's.
package enum CopyItemState: Int64, Sendable, CaseIterable {
    case queued = 1
    case copying
    case succeeded
    case failed
    /// The destination had it already.
    case skipped
    case canceled

    package var isFinished: Bool {
        switch self {
        case .queued, .copying: false
        case .succeeded, .failed, .skipped, .canceled: true
        }
    }
}

/// How many of a job's items are in which state, and what that makes of the job.
struct CopyTally: Sendable, Hashable {
    private var counts: [CopyItemState: Int] = [:]
    /// Bytes of all items.
    var copiedBytes: Int64 = 0

    subscript(state: CopyItemState) -> Int {
        get { counts[state] ?? 0 }
        set { counts[state] = newValue }
    }

    /// Whether nothing is left to do.
    var isSettled: Bool { self[.queued] == 0 && self[.copying] == 0 }

    /// What a job that was in `state` is with these items: what it was, until they have settled.
    ///
    /// A job whose every item had come to its end before the cancellation reached it was not canceled.
    func state(after state: CopyJobState) -> CopyJobState {
        guard isSettled, !state.isFinished else { return state }
        if self[.canceled] > 0 { return .canceled }
        if self[.failed] == 0 { return .succeeded }
        return self[.succeeded] + self[.skipped] > 0 ? .partialFailed : .failed
    }
}
