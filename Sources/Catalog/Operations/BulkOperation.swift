import Accounts
import Basics
import Proto

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
    /// The zone of the filter's days; empty = UTC.
    var timeZone = ""
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

extension ObjectOperation {
    init(_ operation: BulkOperation) {
        let status: ObjectOperationStatus =
            switch operation.state {
            case .running: .running
            case .succeeded: .succeeded
            case .canceled: .canceled
            }
        let kind: ObjectOperationKind =
            switch operation.kind {
            case .delete: .delete
            case .restore: .restore
            case .purge: .purge
            case .undo: .undo
            }
        let restored = operation.kind.restores ? operation.processed : Amount()
        let deleted = operation.kind.restores ? Amount() : operation.processed
        self.init(
            operationID: operation.id, status: status, filter: operation.filter, reason: operation.reason,
            createdBy: operation.actor, createdAt: Timestamp(operation.createdAt),
            finishedAt: operation.finishedAt.map { Timestamp($0) }, deletedObjects: deleted.objects,
            deletedBytes: deleted.bytes, progressPercent: operation.percent, kind: kind,
            restoredObjects: restored.objects, restoredBytes: restored.bytes,
            undoneOperationID: operation.undoneID ?? "", timeZone: operation.timeZone)
    }
}
