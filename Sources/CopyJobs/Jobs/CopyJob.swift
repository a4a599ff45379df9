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
    /// Why it ended as it did, or is going to; empty where all is well.
    var reason: String
    let items: Int
    /// Bytes.
    let size: Int64

    /// Takes in how its items stand, and ends it when they have settled.
    ///
    /// - Returns: how it ended, if it did so now.
    mutating func settle(_ tally: CopyTally, at now: UnixTime) -> CopyJobState? {
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
    /// What was begun at a destination that takes parts.
    struct Multipart: Sendable, Hashable {
        let id: String
        /// Bytes.
        let partSize: Int64
    }

    let jobID: String
    /// Its place in the request, from 0.
    let number: Int
    let fileID: String
    let uploadID: String
    let key: String
    var state: CopyItemState = .queued
    /// Bytes, of the source.
    let size: Int64
    var copiedBytes: Int64 = 0
    /// How often a worker took it.
    var attempts = 0
    /// Failures in a row, without progress between them.
    var failures = 0
    /// When the first of them was.
    var firstFailureAt: UnixTime?
    var multipart: Multipart?
    var errorCode = ""
    var errorMessage = ""

    /// What it is called where it is not whole yet.
    var partialName: String { "\(Self.partialPrefix)\(jobID)-\(number)" }

    static let partialPrefix = ".data-gateway-copy-"
}
