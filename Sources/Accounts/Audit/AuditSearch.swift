import Basics
import Database

/// A page of the audit log.
struct AuditPage: Sendable {
    var lines: [AuditRecord] = []
    /// The id from which the next page reads: the line with it is the next one forwards, and not read again backwards. `nil` = there is
    /// no next page.
    var next: Int64?
    /// Whether there may be further lines now.
    var hasMore = false
}

/// The search for the lines of a query.
///
/// Ids are read in their order, so that a page continues where the one before ended. A list without a filter reads its lines only.
/// Another one compares a limited number of lines, which it finds by an index: those of an organization, or those of its people.
struct AuditSearch: Sendable {
    /// The lines that are compared for one page.
    static let budget = 20_000
    /// The lines that are folded at a time.
    private static let foldedRows = 1000

    let database: Database
    let query: AuditQuery
    var budget = Self.budget

    /// - Parameter position: where the page before ended; `nil` = the first page.
    func page(from position: Int64?, limit: PageLimit, foldsKeys: Bool = false) async throws -> AuditPage {
        if foldsKeys {
            return try await database.readInBackground { try folded(from: position, limit: limit, in: $0) }
        }
        if query.filter.isEmpty { return try await lines(from: position, limit: limit) }
        return try await database.readInBackground { try matches(from: position, limit: limit, in: $0) }
    }

    /// Reads a page of a list without a filter.
    private func lines(from position: Int64?, limit: PageLimit) async throws -> AuditPage {
        let ids = try await database.read { try range(from: position, in: $0) }
        let page = try await database.readPage(limit) { connection, limit, last in
            try AuditRecords(connection).page(
                query, in: last.map { ids.rest(after: $0.id, query) } ?? ids, limit: limit)
        }
        let rest = page.rows.last.map { ids.rest(after: $0.id, query) } ?? ids
        let next = query.newestFirst ? rest.upperBound : rest.lowerBound
        return AuditPage(
            lines: page.rows, next: page.hasMore || !query.newestFirst ? next : nil, hasMore: page.hasMore)
    }

    private func matches(from position: Int64?, limit: PageLimit, in connection: ReadConnection) throws -> AuditPage {
        let ids = try range(from: position, in: connection)
        let (compared, rest) = try window(of: ids, in: connection)
        let found = try AuditRecords(connection).page(query, in: compared, limit: limit)
        var page = AuditPage(lines: found.rows.filter { query.filter.matches($0.entry) })
        page.hasMore = found.hasMore || rest != nil
        if found.hasMore, let last = found.rows.last {
            page.next = ids.rest(after: last.id, query).start(query)
        } else if let rest {
            page.next = rest.start(query)
        } else if !query.newestFirst {
            page.next = try end(of: compared, in: connection)
        }
        return page
    }

    /// Reads a page whose lines of keys are folded. It ends between two hours, unless the lines to be compared end before.
    private func folded(from position: Int64?, limit: PageLimit, in connection: ReadConnection) throws -> AuditPage {
        let (compared, rest) = try window(of: try range(from: position, in: connection), in: connection)
        var fold = AuditFold(limit: limit)
        var ids = compared
        while true {
            let part = try AuditRecords(connection).page(query, in: ids, limit: PageLimit(rows: Self.foldedRows))
            for record in part.rows where query.filter.matches(record.entry) {
                guard fold.add(record) else {
                    return AuditPage(lines: fold.records, next: record.id + 1, hasMore: true)
                }
            }
            guard part.hasMore, let last = part.rows.last else { break }
            ids = ids.rest(after: last.id, query)
        }
        return AuditPage(lines: fold.records, next: rest?.start(query), hasMore: rest != nil)
    }

    /// Returns the ids that the page may read.
    private func range(from position: Int64?, in connection: ReadConnection) throws -> Range<Int64> {
        let records = AuditRecords(connection)
        if !query.newestFirst, let position { return position..<max(position, try end(records)) }
        let first = try records.start(since: query.since)
        let last = query.newestFirst ? try position ?? end(records) : try end(records)
        return min(first, last)..<last
    }

    private func end(_ records: AuditRecords<ReadConnection>) throws -> Int64 {
        try query.filter.until.map { try records.end(until: $0) } ?? .max
    }

    /// Returns the ids that a page compares, and those that are left for later pages; `nil` = none.
    private func window(
        of ids: Range<Int64>, in connection: ReadConnection
    ) throws -> (compared: Range<Int64>, rest: Range<Int64>?) {
        guard let last = try AuditRecords(connection).end(query, in: ids, count: budget) else { return (ids, nil) }
        let rest = ids.rest(after: last, query)
        return (query.newestFirst ? last..<ids.upperBound : ids.lowerBound..<last + 1, rest)
    }

    /// Returns the id after the newest line of a range that was compared to its end.
    private func end(of ids: Range<Int64>, in connection: ReadConnection) throws -> Int64 {
        max(ids.lowerBound, min(ids.upperBound, try AuditRecords(connection).lastID() + 1))
    }
}

extension Range<Int64> {
    /// Returns the part that a query reads after the line.
    fileprivate func rest(after id: Int64, _ query: AuditQuery) -> Self {
        query.newestFirst ? lowerBound..<Swift.max(lowerBound, id) : Swift.min(upperBound, id + 1)..<upperBound
    }

    /// The id from which a query reads the range.
    fileprivate func start(_ query: AuditQuery) -> Int64 { query.newestFirst ? upperBound : lowerBound }
}
