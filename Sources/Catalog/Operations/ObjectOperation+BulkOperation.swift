import Accounts
import Basics
import Proto

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
            undoneOperationID: operation.undoneID ?? "")
    }
}
