import Accounts
import Basics
import Database
import GatewayAPI
import ObjectFilters
import TimeZones

/// Executes the running operations in turns, until its task is cancelled. Organizations take turns, and within one its operations.
///
/// Each transaction is small and is followed by a pause of the same length for other writes. The progress of an operation is part
/// of the commit, so that a new process continues where a killed one stopped.
final class OperationRunner: Sendable {
    /// The number of objects in one transaction, for moves to the trash and for deletions with parts.
    private static let (batch, batchOfDeletions) = (100, 16)
    /// The number of rows that are read for one transaction.
    private static let rows = 2000
    /// The shortest pause between two transactions.
    private static let shortestPause = Duration.milliseconds(1)
    /// The pause after a failure.
    private static let retryDelay = Duration.seconds(5)

    private let database: Database
    private let removal: ObjectRemoval
    private let clock: any WallClock
    private let log: Logger
    private let zones: TimeZoneFolder
    private let signal = Signal()
    /// Notified each time the runner finds no running operation.
    let idle = Signal()

    init(
        database: Database, removal: ObjectRemoval, clock: any WallClock, log: Logger, zones: TimeZoneFolder = .system
    ) {
        self.database = database
        self.removal = removal
        self.clock = clock
        self.log = log
        self.zones = zones
    }

    /// Wakes the runner, because there may be a new operation.
    func wake() { signal.notify() }

    func run() async {
        var round = 0
        while !Task.isCancelled {
            let notified = signal.count
            do {
                let running = try await database.read { try ObjectOperationRecords($0).running() }
                if running.isEmpty {
                    idle.notify()
                    await database.wait(for: signal, after: notified)
                    continue
                }
                var hasFailed = false
                round &+= 1
                for id in Self.turn(of: running, round: round) where !Task.isCancelled {
                    do {
                        try await work(on: id)
                    } catch {
                        // Continues with the other operations.
                        hasFailed = true
                        report(error, of: id)
                    }
                }
                if hasFailed { try? await Task.sleep(for: Self.retryDelay) }
            } catch {
                report(error, of: "")
                try? await Task.sleep(for: Self.retryDelay)
            }
        }
    }

    /// Returns the operations of a round: one of each organization, the next one in each round.
    ///
    /// - Parameter running: the operations of each organization.
    static func turn(of running: [[String]], round: Int) -> [String] { running.map { $0[round % $0.count] } }

    private func report(_ error: any Error, of id: String) {
        if error is CancellationError { return }
        log.write("an operation on objects failed", ["operation_id": id, "error": "\(error)"], level: .error)
    }

    private func work(on id: String) async throws {
        let watch = ContinuousClock()
        let start = watch.now
        try await step(id)
        try await Task.sleep(for: max(watch.now - start, Self.shortestPause))
    }

    /// Processes the next objects of an operation.
    func step(_ id: String) async throws {
        guard let (operation, grace) = try await operation(id) else { return }
        let work = try OperationStep(operation, in: zones)
        let isDeletion = operation.kind == .purge || (operation.kind == .delete && grace.days == 0)
        let limit = isDeletion ? Self.batchOfDeletions : Self.batch
        let (positions, rest) = try await database.readInBackground {
            try work.next(limit: limit, rows: Self.rows, in: $0)
        }
        try await database.write(mayUseReserve: true) { [removal, clock] connection in
            let records = ObjectOperationRecords(connection)
            // The operation may have been canceled since, tags changed, or an object restored.
            guard var operation = try records.operation(id, scope: nil), operation.state == .running else { return }
            let found = try work.objects(at: positions, in: connection)
            let now = clock.now()
            try work.apply(to: found, removal, at: now, in: connection)
            operation.processed.objects += Int64(found.count)
            operation.processed.bytes += found.reduce(0) { $0 + $1.content.size }
            operation.nextPosition = rest ?? 0
            if rest == nil { operation.finish(as: .succeeded, at: now) }
            try records.update(operation)
            guard !found.isEmpty else { return }
            var entry = AuditEntry(
                actor: operation.actor,
                organization: try Accounts.organization(operation.organizationID, in: connection),
                action: work.action, target: BulkOperations.name(id), peer: "")
            entry.ids = found.map(\.fileID)
            entry.count = found.count
            try Audit.record(entry, at: now, in: connection)
        }
    }

    private func operation(_ id: String) async throws -> (BulkOperation, TrashGrace)? {
        try await database.read { connection in
            guard let operation = try ObjectOperationRecords(connection).operation(id, scope: nil),
                operation.state == .running
            else { return nil }
            return (operation, try ObjectRecords(connection).trashGrace(organizationID: operation.organizationID))
        }
    }
}

/// The work of an operation on its next objects.
struct OperationStep: Sendable {
    private let operation: BulkOperation
    /// `nil` for an undo, which finds its objects by the undone operation.
    private let filter: ResolvedFilter?

    /// - Throws: FAILED_PRECONDITION if the machine has no time zones any more.
    init(_ operation: BulkOperation, in zones: TimeZoneFolder) throws {
        self.operation = operation
        filter =
            operation.kind == .undo
            ? nil
            : try BulkOperations.parse(
                operation.filter, for: operation.kind, in: FieldRules.timeZone(operation.timeZone, in: zones),
                at: operation.createdAt)
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
