import Basics

/// A row of `copy_jobs`.
struct CopyJob: Sendable {
    let id: String
    let organizationID: Int64
    let userID: Int64
    let place: CopyPlace
    let template: KeyTemplate
    var state: CopyJobState
    let createdAt: UnixTime
    var startedAt: UnixTime?
    var finishedAt: UnixTime?
    /// The reason of its final state; empty after success.
    var reason: String
    let items: Int
    /// The size of all items in bytes.
    let size: Int64

    /// Updates the state from its items, and ends the job when all of them are finished.
    ///
    /// - Returns: the final state, if the job has just ended.
    mutating func update(_ tally: CopyTally, at now: UnixTime) -> CopyJobState? {
        let next = tally.state(after: state)
        guard next != state else { return nil }
        state = next
        finishedAt = now
        switch next {
        case .failed, .partialFailed: reason = "\(tally[.failed]) of \(items) items failed"
        case .canceled: break
        default: reason = ""
        }
        return next
    }
}

/// A row of `copy_items`.
struct CopyItem: Sendable {
    /// An open multipart upload at the destination.
    struct Multipart: Sendable, Hashable {
        let id: String
        /// The size of a part in bytes.
        let partSize: Int64
    }

    let jobID: String
    /// The index in the request, from 0.
    let number: Int
    let fileID: String
    let uploadID: String
    let key: String
    var state: CopyItemState = .queued
    /// The size of the source in bytes.
    let size: Int64
    var copiedBytes: Int64 = 0
    /// The number of times that a worker took the item.
    var attempts = 0
    /// The number of consecutive failures without progress in between.
    var failures = 0
    /// The time of the first of these failures.
    var firstFailureAt: UnixTime?
    var multipart: Multipart?
    var errorCode = ""
    var errorMessage = ""

    /// The temporary name until the copy is complete.
    var partialName: String { "\(Self.partialPrefix)\(jobID)-\(number)" }

    static let partialPrefix = ".data-gateway-copy-"
}
