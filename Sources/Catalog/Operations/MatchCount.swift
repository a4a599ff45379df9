import Database
import ObjectFilters

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
