import Basics
import Database
import ObjectFilters

/// The work of an operation on its next objects.
struct OperationStep: Sendable {
    private let operation: BulkOperation
    /// `nil` for an undo, which finds its objects by the undone operation.
    private let filter: ResolvedFilter?

    init(_ operation: BulkOperation) throws {
        self.operation = operation
        filter =
            operation.kind == .undo
            ? nil
            : try BulkOperations.parse(operation.filter, for: operation.kind, at: operation.createdAt)
    }

    /// The action in the audit log.
    var action: String {
        switch operation.kind {
        case .delete: "ApplyDeleteObjects"
        case .restore: "ApplyRestoreObjects"
        case .purge: "ApplyPurgeObjects"
        case .undo: "ApplyUndoObjectOperation"
        }
    }

    /// Finds the next objects.
    ///
    /// - Parameter rows: the limit of rows that are read.
    /// - Returns: their positions, and the position below which the rest begins; `nil` = there is no rest.
    func next(limit: Int, rows: Int, in connection: ReadConnection) throws -> (positions: [Int64], rest: Int64?) {
        guard let filter else {
            let found = try ObjectRecords(connection).trashed(
                by: operation.undoneID ?? "", below: operation.nextPosition, limit: limit)
            return (found.map(\.position), found.count < limit ? nil : found.last?.position)
        }
        let search = try ObjectSearch(
            filter, scope: operation.organizationID, in: connection, budget: SearchBudget(rows))
        let matches = try search.matches(below: operation.nextPosition, limit: limit) { _ in true }
        return (matches.found.map(\.position), matches.rest)
    }

    /// Returns the objects at some positions that the operation still has to process.
    func objects(at positions: [Int64], in connection: ReadConnection) throws -> [CatalogObject] {
        guard let first = positions.first else { return [] }
        guard let filter else {
            let wanted = Set(positions)
            return try ObjectRecords(connection)
                .trashed(by: operation.undoneID ?? "", below: first + 1, limit: positions.count)
                .filter { wanted.contains($0.position) }.map(\.object)
        }
        let found = try MatchingRows(filter, scope: operation.organizationID, in: connection)
            .matches(at: positions, row: CatalogObject.init).map(\.value)
        guard operation.kind == .purge else { return found }
        // Objects that moved to the trash since were not counted when the deletion was confirmed.
        return found.filter { $0.trashedAt.map { $0 <= operation.createdAt } ?? false }
    }

    /// Deletes or restores objects.
    func apply(
        to objects: [CatalogObject], _ removal: ObjectRemoval, at now: UnixTime, in connection: Connection
    ) throws {
        let records = ObjectRecords(connection)
        let grace = try records.trashGrace(organizationID: operation.organizationID)
        for object in objects {
            var order = ObjectRemoval.Order(actor: operation.actor, reason: operation.reason)
            switch operation.kind {
            case .delete:
                order.operationID = operation.id
                try removal.remove(object, order, grace, at: now, in: connection)
            case .purge:
                if order.reason.isEmpty { order.reason = try records.trashing(of: object)?.reason ?? "" }
                try removal.purge(object, order, at: now, in: connection)
            case .restore, .undo:
                _ = try removal.restore(object, traceparent: nil, at: now, in: connection)
            }
        }
    }
}
