import Basics
import GatewayAPI
import Proto
import RPC
import StoreProtocol

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

    /// The right of a worker to copy the item.
    struct Claim: Sendable, Hashable {
        /// The number of times that the item was taken: an earlier worker has a lower one.
        var number: Int64 = 0
        /// The process that has the item, or had it last.
        var holder: String?
        /// The end by the database's clock, unless the claim is renewed. A process that uses the database alone does not renew it.
        var until = UnixTime(microseconds: 0)
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
    var claim = Claim()

    /// The temporary name until the copy is complete.
    var partialName: String { "\(Self.partialPrefix)\(jobID)-\(number)" }

    static let partialPrefix = ".data-gateway-copy-"
}

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

/// The contents of a valid CreateCopyJob request.
struct CopyOrder: Sendable {
    let fileIDs: [String]
    let place: CopyPlace
    let template: KeyTemplate
    /// The idempotency key; `nil` = none.
    let idempotencyKey: String?
    /// The digest of the request without the idempotency key.
    let digest: [UInt8]
}

/// The destination in a job's request, which is also stored in its row. It is only usable while the configuration lists it.
struct CopyPlace: Sendable, Hashable {
    /// The longest endpoint in bytes. Together with the longest key it is a path in an index of claims.
    static let longestEndpoint = 1024

    let endpoint: String
    let bucket: String
    let region: String

    /// - Throws: INVALID_ARGUMENT for an invalid destination, independent of the configuration.
    init(_ request: CopyDestination) throws(RPCError) {
        endpoint = request.endpoint
        bucket = request.bucket
        region = request.region
        guard endpoint.utf8.count <= Self.longestEndpoint else {
            throw .invalidArgument("destination.endpoint must be at most \(Self.longestEndpoint) bytes")
        }
        for (field, value) in [("account_id", request.accountID), ("kms_key_id", request.kmsKeyID)]
        where !value.isEmpty {
            throw .invalidArgument("destination.\(field) must be empty: the gateway's configuration sets it")
        }
        guard endpoint.hasPrefix(Self.fileScheme) else { return }
        guard bucket.isEmpty, region.isEmpty else {
            throw .invalidArgument("destination.bucket and destination.region must be empty for a file:// endpoint")
        }
    }

    init(endpoint: String, bucket: String, region: String) {
        self.endpoint = endpoint
        self.bucket = bucket
        self.region = region
    }

    /// The scheme of endpoints that are folders of this machine.
    static let fileScheme = "file://"
}

/// The writer for an organization's items at a destination.
struct CopyRoute: Sendable {
    let writer: any DestinationWriter
    /// The required prefix of paths if organizations share the destination; `nil` = none.
    let prefix: String?

    /// Returns the reason why the key is invalid at the destination; `nil` = it is valid.
    func objection(to key: String) -> String? {
        if let objection = writer.objection(to: key) { return objection }
        guard let prefix, !writer.path(of: key).hasPrefix(prefix) else { return nil }
        return "organizations share this destination, and files of this organization must go below \(prefix)"
    }
}
