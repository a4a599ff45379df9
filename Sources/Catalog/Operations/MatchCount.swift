import Database
import ObjectFilters

/// How many objects match a filter, and their bytes; counted up to a bound.
struct MatchCount: Sendable, Equatable {
    /// Rows that are looked at in one read.
    private static let rows = 5000

    var amount = Amount()
    /// Whether more may match: the bound was reached.
    var isLowerBound = false

    /// - Parameters:
    ///   - filter: without ages, see ``ObjectFilter/resolved(at:)``.
    ///   - mostRows: how many rows are looked at.
    static func count(
        _ filter: ObjectFilter, organizationID: Int64, mostRows: Int, in database: Database
    ) async throws -> MatchCount {
        var count = MatchCount()
        var (below, rows) = (Int64?.some(.max), 0)
        while let position = below {
            try Task.checkCancellation()
            guard rows < mostRows else {
                count.isLowerBound = true
                break
            }
            // Each read is its own, so that none of them holds back the database's checkpoints for long.
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
