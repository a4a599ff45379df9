import Accounts
import Basics
import Crypto
import Database
import GatewayAPI
import ObjectFilters
import RPC

/// The rules of DeleteObjects, GetObjectOperation, ListObjectOperations and CancelObjectOperation.
struct BulkDeletion: Sendable {
    /// The limit of running operations of one organization.
    private static let mostRunning = 10
    /// The limits of rows that are read for a dry run, and at the beginning of an operation.
    private static let (mostRows, mostRowsAtBeginning) = (1_000_000, 20_000)
    /// The limit of an id's length, above that of any issued id.
    private static let longestID = 128

    let database: Database
    let clock: any WallClock
    let identifiers: Identifiers
    let runner: OperationRunner

    /// Parses a filter of DeleteObjects.
    ///
    /// - Throws: INVALID_ARGUMENT if it is invalid.
    static func parse(_ text: String) throws(RPCError) -> ObjectFilter {
        let filter = try ObjectListing.parse(text)
        guard filter != .everything else {
            throw .invalidArgument("filter must not be empty: size>=0 matches all objects")
        }
        guard !filter.contains(where: { if case .trashed = $0 { true } else { false } }) else {
            throw .invalidArgument("filter must not have a term trashed: objects in the trash are deleted already")
        }
        return filter.hidingTrash
    }

    /// - Returns: the current matches, and the operation unless this is a dry run.
    func delete(
        _ text: String, reason: String, isDryRun: Bool, by caller: Caller
    ) async throws -> (matches: MatchCount, operation: BulkOperation?) {
        try FieldRules.note(reason, field: "reason", limit: 512)
        let now = clock.now()
        let organization = caller.organization
        let count = try await MatchCount.count(
            Self.parse(text).resolved(at: now.seconds), organizationID: organization.id,
            mostRows: isDryRun ? Self.mostRows : Self.mostRowsAtBeginning, in: database)
        guard !isDryRun else { return (count, nil) }
        let id = identifiers.uuid()
        let operation = try await database.write(mayUseReserve: true) { connection in
            let records = ObjectOperationRecords(connection)
            guard try records.countRunning(organizationID: organization.id) < Self.mostRunning else {
                throw RPCError(
                    .overloaded,
                    "the organization already has \(Self.mostRunning) running operations: wait until one finishes",
                    retryAfterMilliseconds: 30_000)
            }
            let entry = caller.did(to: Self.name(id))
            let end = try records.endOfObjects()
            let operation = BulkOperation(
                id: id, organizationID: organization.id, filter: text, reason: reason, actor: entry.actor,
                createdAt: now, firstPosition: end, nextPosition: end)
            try records.insert(operation)
            try Audit.record(entry, at: now, in: connection)
            connection.afterCommit { [runner] in runner.wake() }
            return operation
        }
        return (count, operation)
    }

    func operation(_ id: String, for caller: Caller) async throws -> BulkOperation {
        try Self.check(id)
        return try await database.read { try Self.find(id, for: caller, ObjectOperationRecords($0)) }
    }

    /// Returns a page of the organization's operations, newest first; its cursor is an operation's id.
    func operations(_ page: Page, for caller: Caller) async throws -> PageRows<BulkOperation> {
        let (organizationID, first) = (caller.organization.id, page.cursor)
        return try await database.readPage(page.limit) { connection, limit, last in
            try ObjectOperationRecords(connection).operations(
                organizationID: organizationID, after: last?.id ?? first, limit: limit)
        }
    }

    /// Cancels an operation. Objects that were removed stay removed; a finished operation stays unchanged.
    func cancel(_ id: String, by caller: Caller) async throws -> BulkOperation {
        try Self.check(id)
        let now = clock.now()
        return try await database.write(mayUseReserve: true) { connection in
            let records = ObjectOperationRecords(connection)
            var operation = try Self.find(id, for: caller, records)
            guard operation.state == .running else { return operation }
            operation.finish(as: .canceled, at: now)
            try records.update(operation)
            try Audit.record(caller.did(to: Self.name(id)), at: now, in: connection)
            return operation
        }
    }

    /// Returns an operation's name in the audit log.
    static func name(_ id: String) -> String { "objectOperations/\(id)" }

    private static func check(_ id: String) throws(RPCError) {
        guard (1...longestID).contains(id.utf8.count) else {
            throw .invalidArgument("operation_id must be 1 to \(longestID) bytes")
        }
    }

    private static func find(
        _ id: String, for caller: Caller, _ records: ObjectOperationRecords<some ReadConnection>
    ) throws -> BulkOperation {
        guard let operation = try records.operation(id, scope: caller.organization.id) else {
            throw RPCError.notFound("operation \(id) does not exist")
        }
        return operation
    }
}
