/// How much work a search may still do: rows that it looks at, and the like.
///
/// One search's own, on one thread.
final class SearchBudget {
    /// What one step down an index costs, in rows.
    private static let seek = 2
    /// Entries of an index that cost what one row does.
    private static let entriesOfARow = 8

    /// What the tags of one object cost, in rows.
    private static let tags = 2

    private(set) var remaining: Int

    var isSpent: Bool { remaining <= 0 }

    init(_ rows: Int) {
        remaining = rows
    }

    func spend(rows: Int) {
        remaining -= rows
    }

    func spend(tagsOf objects: Int) {
        remaining -= objects * Self.tags
    }

    func spend(entries: Int) {
        remaining -= Self.seek + entries / Self.entriesOfARow
    }
}
