/// The work that a search may still do, measured in rows read, and in the bytes of those that may match.
///
/// It belongs to one search on one thread.
final class SearchBudget {
    /// The cost of one search in an index, in rows.
    private static let seek = 2
    /// The number of index entries that cost as much as one row.
    private static let entriesOfARow = 8

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

    func spend(tagsOf objects: Int) {
        remaining -= objects * Self.tags
    }

    func spend(entries: Int) {
        remaining -= Self.seek + entries / Self.entriesOfARow
    }
}
