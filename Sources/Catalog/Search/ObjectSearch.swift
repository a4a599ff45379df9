import Database
import ObjectFilters

/// Objects of a scope that match a filter, newest first, within a budget.
struct ObjectSearch {
    /// The largest number of rows that one statement reads.
    private static let longestChunk = 128
    private static let shortestChunk = 8

    /// A matching object, decoded by `row`.
    struct Match<Value> {
        let position: Int64
        let value: Value
    }

    struct Matches<Value> {
        var found: [Match<Value>] = []
        /// The position below which nothing was examined; `nil` = everything was.
        var rest: Int64?
    }

    private let rows: MatchingRows
    private let budget: SearchBudget
    private let stream: any PositionStream

    /// - Parameters:
    ///   - scope: the organization; `nil` = all.
    ///   - columns: the columns of the rows that are decoded.
    init(
        _ filter: ResolvedFilter, scope: Int64?, in connection: ReadConnection, budget: SearchBudget,
        columns: MatchingRows.Columns = .object
    ) throws {
        // The stream contains only objects with the required tags, so these need not be compared again.
        rows = MatchingRows(
            filter.withoutRequiredTags, scope: scope, in: connection, budget: budget, columns: columns)
        stream = try SearchPlan.stream(of: filter, scope: scope, in: connection, budget: budget)
        self.budget = budget
    }

    /// Returns the next matches below a position: `limit` of them, or fewer if there are no more or the budget is spent.
    func matches<Value>(
        below start: Int64?, limit: Int, row: (Row) throws -> Value
    ) throws -> Matches<Value> {
        var found: [Match<Value>] = []
        let rest = try forEachMatch(below: start, limit: limit, row: row) { found.append($0) }
        return Matches(found: found, rest: rest)
    }

    /// Calls `body` with the next matches below a position: `limit` of them, or fewer if there are no more or the budget is spent.
    ///
    /// - Returns: the position below which nothing was examined; `nil` = everything was.
    func forEachMatch<Value>(
        below start: Int64?, limit: Int, row: (Row) throws -> Value, _ body: (Match<Value>) -> Void
    ) throws -> Int64? {
        var count = 0
        var below: Int64? = start ?? .max
        while let position = below, count < limit, count == 0 || !budget.isSpent {
            let chunk = try chunk(below: position, wanted: limit - count)
            below = chunk.rest
            var last = position
            try rows.forEachMatch(at: chunk.positions, row: row) { match in
                guard count < limit else {
                    below = last
                    return
                }
                count += 1
                last = match.position
                body(match)
            }
            budget.spend(rows: chunk.positions.count)
            if budget.isSpent { break }
        }
        return below
    }

    /// Returns the next matches below a position: some, or none if there are no more or the budget is spent. Unlike those of
    /// ``matches(below:limit:row:)``, they are not cut, so that the search can continue at `rest`.
    ///
    /// - Parameter wanted: the number of matches that are needed; there may be more or fewer.
    func someMatches<Value>(
        below start: Int64, wanted: Int, row: (Row) throws -> Value
    ) throws -> Matches<Value> {
        var matches = Matches<Value>(found: [], rest: start)
        while let position = matches.rest, matches.found.isEmpty, !budget.isSpent {
            let chunk = try chunk(below: position, wanted: wanted)
            matches.found = try rows.matches(at: chunk.positions, row: row)
            matches.rest = chunk.rest
            budget.spend(rows: chunk.positions.count)
        }
        return matches
    }

    private func chunk(below start: Int64, wanted: Int) throws -> (positions: [Int64], rest: Int64?) {
        let size = max(1, min(max(wanted, Self.shortestChunk), Self.longestChunk, budget.remaining))
        var positions: [Int64] = []
        var below = start
        repeat {
            switch try stream.next(below: below) {
            case .found(let position):
                positions.append(position)
                below = position
            case .unknown(let position): return (positions, position)
            case .end: return (positions, nil)
            }
        } while positions.count < size && positions.count < budget.remaining
        return (positions, below)
    }
}

/// The work that a search may still do, measured in rows read, and in the bytes of those that may match.
///
/// It belongs to one search on one thread.
final class SearchBudget {
    /// The cost of one search in an index, in rows.
    private static let seek = 2
    /// The number of index entries that cost as much as one row.
    private static let entriesOfARow = 8

    /// The number of names that cost as much as one row.
    private static let namesOfARow = 4
    /// The cost of reading the tags of one object, in rows.
    private static let tags = 2

    private(set) var remaining: Int
    private var remainingBytes: Int

    var isSpent: Bool { remaining <= 0 || remainingBytes <= 0 }

    init(_ rows: Int, bytes: Int = .max) {
        remaining = rows
        remainingBytes = bytes
    }

    func spend(bytes: Int) {
        remainingBytes -= bytes
    }

    func spend(rows: Int) {
        remaining -= rows
    }

    func spend(names: Int) {
        remaining -= Self.seek + names / Self.namesOfARow
    }

    func spend(tagsOf objects: Int) {
        remaining -= objects * Self.tags
    }

    func spend(entries: Int) {
        remaining -= Self.seek + entries / Self.entriesOfARow
    }
}
