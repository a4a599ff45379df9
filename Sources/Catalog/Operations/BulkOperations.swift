import Accounts
import Basics
import Crypto
import Database
import GatewayAPI
import ObjectFilters
import RPC
import TimeZones

/// The rules of the calls that delete or restore many objects, and of those about their operations.
struct BulkOperations: Sendable {
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
    let zones: TimeZoneFolder

    /// A request for an operation.
    struct Request: Sendable {
        let kind: BulkOperation.Kind
        /// Empty for an undo.
        var filter = ""
        /// The zone of the filter's days; empty = UTC.
        var timeZone = ""
        var reason = ""
        /// The operation to undo.
        var undoneID: String?
        var isDryRun = false
    }

    /// The current matches of a request, and the operation unless it is a dry run.
    typealias Result = (matches: MatchCount, operation: BulkOperation?)

    /// Parses the filter of an operation.
    ///
    /// - Parameters:
    ///   - zone: the zone of the days.
    ///   - now: the time to which ages refer.
    /// - Returns: a filter that matches objects in the trash, or outside it for ``BulkOperation/Kind/delete``.
    /// - Throws: INVALID_ARGUMENT if it is invalid.
    static func parse(
        _ text: String, for kind: BulkOperation.Kind, in zone: TimeZoneRules = .utc, at now: UnixTime
    ) throws(RPCError) -> ResolvedFilter {
        let filter: ResolvedFilter
        do {
            filter = try FilterParser.parseForChange(text).resolved(at: now.seconds, in: zone)
        } catch {
            throw .invalidArgument("filter: \(error)")
        }
        guard filter != .everything else {
            throw .invalidArgument("filter must not be empty: size>=0 matches all objects")
        }
        guard !filter.hasTrashed else {
            throw .invalidArgument(
                kind == .delete
                    ? "filter must not have a term trashed: objects in the trash are deleted already"
                    : "filter must not have a term trashed: it only matches objects in the trash")
        }
        return kind == .delete ? filter.hidingTrash : filter.inTrash
    }

    /// Counts the objects of a request, and begins its operation unless it is a dry run.
    func begin(_ request: Request, by caller: Caller) async throws -> Result {
        try FieldRules.note(request.reason, field: "reason", limit: 512)
        let now = clock.now()
        let organization = caller.organization
        let count = try await count(request, organization, at: now, for: caller)
        guard !request.isDryRun else { return (count, nil) }
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
                id: id, organizationID: organization.id, kind: request.kind, undoneID: request.undoneID,
                filter: request.filter, timeZone: request.timeZone, reason: request.reason, actor: entry.actor,
                createdAt: now,
                firstPosition: end, nextPosition: end)
            try records.insert(operation)
            try Audit.record(entry, at: now, in: connection)
            connection.afterCommit { [runner] in runner.wake() }
            return operation
        }
        return (count, operation)
    }

    private func count(
        _ request: Request, _ organization: OrganizationReference, at now: UnixTime, for caller: Caller
    ) async throws -> MatchCount {
        guard let undone = request.undoneID else {
            return try await MatchCount.count(
                Self.parse(
                    request.filter, for: request.kind, in: FieldRules.timeZone(request.timeZone, in: zones), at: now),
                organizationID: organization.id,
                mostRows: request.isDryRun ? Self.mostRows : Self.mostRowsAtBeginning, in: database)
        }
        try Self.check(undone)
        return try await database.readInBackground { connection in
            let operation = try Self.find(undone, for: caller, ObjectOperationRecords(connection))
            guard operation.kind == .delete else {
                throw RPCError.failedPrecondition("operation \(undone) is not a deletion: only deletions can be undone")
            }
            guard operation.state != .running else {
                throw RPCError.failedPrecondition("operation \(undone) is running: wait until it ends, or cancel it")
            }
            return MatchCount(amount: try ObjectRecords(connection).countTrashed(by: undone))
        }
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

    /// Cancels an operation. Objects that it processed stay as they are; a finished operation stays unchanged.
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

/// The number of objects that match a filter, and their bytes; counted up to a limit.
struct MatchCount: Sendable, Equatable {
    /// The number of rows in one read.
    private static let rows = 5000

    var amount = Amount()
    /// Whether there may be more matches, because the limit was reached.
    var isLowerBound = false

    /// - Parameter mostRows: the number of rows to read.
    static func count(
        _ filter: ResolvedFilter, organizationID: Int64, mostRows: Int, in database: Database
    ) async throws -> MatchCount {
        var count = MatchCount()
        var (below, rows) = (Int64?.some(.max), 0)
        while let position = below {
            try Task.checkCancellation()
            guard rows < mostRows else {
                count.isLowerBound = true
                break
            }
            // Separate reads, so that none of them delays the database's checkpoints for long.
            let (amount, rest) = try await database.readInBackground { connection in
                let search = try ObjectSearch(
                    filter, scope: organizationID, in: connection, budget: SearchBudget(Self.rows))
                let matches = try search.matches(below: position, limit: Self.rows) { $0.int64("size") }
                return (
                    Amount(
                        objects: Int64(matches.found.count), bytes: matches.found.reduce(0) { $0 + $1.value }),
                    matches.rest
                )
            }
            count.amount.objects += amount.objects
            count.amount.bytes += amount.bytes
            below = rest
            rows += Self.rows
        }
        return count
    }
}
