import Accounts
import Basics
import Database
import GatewayAPI
import Proto
import RPC

/// The rules of the searches that an organization's users share.
struct SavedSearches: Sendable {
    private static let (mostSearches, mostColumns, longestColumn) = (100, 20, 256)

    let database: Database
    let clock: any WallClock

    func all(for caller: Caller) async throws -> [StoredSearch] {
        let organizationID = caller.organization.id
        return try await database.read { try SavedSearchRecords($0).all(organizationID: organizationID) }
    }

    /// - Throws: INVALID_ARGUMENT that names the field and the rule; FAILED_PRECONDITION if the organization has too many.
    func save(_ search: NamedSearch, by caller: Caller) async throws -> StoredSearch {
        try Self.check(search)
        let now = clock.now()
        return try await database.write { connection in
            let records = SavedSearchRecords(connection)
            let organizationID = caller.organization.id
            guard
                try records.hasName(search.name, organizationID: organizationID)
                    || records.count(organizationID: organizationID) < Self.mostSearches
            else {
                throw RPCError.failedPrecondition(
                    "the organization has \(Self.mostSearches) saved searches: delete one first")
            }
            let actor = caller.did(to: "savedSearches").actor
            let saved = try records.save(search, organizationID: organizationID, actor: actor, at: now)
            try Audit.record(caller.did(to: "savedSearches/\(saved.id)"), at: now, in: connection)
            return saved
        }
    }

    func delete(_ id: Int64, by caller: Caller) async throws {
        let now = clock.now()
        try await database.write(mayUseReserve: true) { connection in
            guard try SavedSearchRecords(connection).delete(id: id, organizationID: caller.organization.id) else {
                throw RPCError.notFound("organization \(caller.organization.name) has no saved search \(id)")
            }
            try Audit.record(caller.did(to: "savedSearches/\(id)"), at: now, in: connection)
        }
    }

    private static func check(_ search: NamedSearch) throws(RPCError) {
        try FieldRules.title(search.name, field: "name")
        _ = try RequestedFilter.parse(search.filter)
        _ = try ObjectOrder.parse(search.order)
        guard search.columns.count <= mostColumns else {
            throw .invalidArgument("columns must have at most \(mostColumns) entries, not \(search.columns.count)")
        }
        for column in search.columns {
            guard !column.isEmpty else { throw .invalidArgument("columns must not be empty texts") }
            try FieldRules.note(column, field: "columns", limit: longestColumn)
        }
    }
}

extension SavedSearch {
    init(_ stored: StoredSearch) {
        self.init(
            searchID: stored.id, name: stored.search.name, filter: stored.search.filter, orderBy: stored.search.order,
            columns: stored.search.columns, savedBy: stored.actor, savedAt: Timestamp(stored.savedAt))
    }
}
