/// The limits of one page of a list, in rows and in bytes. A page ends at the one that is reached first.
///
/// Pages are limited in bytes because rows have very different sizes: an object may have half a MiB of tags. The read itself ends
/// there, so that a page never takes more memory than about its limit, and one row.
package struct PageLimit: Sendable, Hashable {
    /// The bytes of a page: a quarter of the messages that gRPC clients accept by default.
    package static let bytes = 1 << 20
    /// The rows and bytes that are read of a page on an event loop: less than a millisecond's work.
    package static let rowsOnLoop = 50
    private static let bytesOnLoop = 64 << 10

    package let rows: Int
    package let bytes: Int
    /// Whether the first row is read whatever its size, so that a walk over the pages makes progress.
    package let takesFirstRow: Bool

    /// - Parameter rows: at least 1.
    package init(rows: Int, bytes: Int = Self.bytes, takesFirstRow: Bool = true) {
        self.rows = rows
        self.bytes = bytes
        self.takesFirstRow = takesFirstRow
    }

    /// The number of rows for a statement's LIMIT: one more than the page holds, to know whether there is another page.
    package var statementRows: Int { rows == .max ? rows : rows + 1 }

    /// The limits of the part that is read on an event loop. It may be empty.
    package var partOnLoop: PageLimit {
        PageLimit(rows: min(rows, Self.rowsOnLoop), bytes: min(bytes, Self.bytesOnLoop), takesFirstRow: false)
    }

    /// Returns the limits of the rest of a page; `nil` if `part` has all of its rows.
    package func rest<Entry>(after part: PageRows<Entry>) -> PageLimit? {
        guard part.hasMore, part.rows.count < rows else { return nil }
        return PageLimit(rows: rows - part.rows.count, bytes: bytes - part.bytes, takesFirstRow: part.rows.isEmpty)
    }
}

/// The rows of one page of a list.
package struct PageRows<Entry> {
    package let limit: PageLimit
    package private(set) var rows: [Entry] = []
    /// The sum of the sizes with which the rows were counted.
    package private(set) var bytes = 0
    /// Whether the page ended at a limit. There are further rows then, unless all of them are filtered out.
    package private(set) var hasMore = false

    package init(_ limit: PageLimit) {
        self.limit = limit
    }

    package mutating func reserve(_ count: Int) {
        rows.reserveCapacity(min(count, limit.rows))
    }

    /// Whether a further row fits. If not, the page ends, and has a next one.
    package mutating func admits(_ size: Int) -> Bool {
        let fits = rows.isEmpty && limit.takesFirstRow || size <= limit.bytes - bytes
        if rows.count < limit.rows && fits && !hasMore { return true }
        hasMore = true
        return false
    }

    /// Appends a row that ``admits(_:)`` accepted.
    package mutating func append(_ row: Entry, bytes size: Int) {
        rows.append(row)
        bytes += size
    }

    /// Ends the page, although further rows would fit.
    package mutating func end() {
        hasMore = true
    }

    /// Returns the same page with other values for its rows.
    package func map<Value>(_ value: (Entry) throws -> Value) rethrows -> PageRows<Value> {
        var page = PageRows<Value>(limit)
        page.rows = try rows.map(value)
        page.bytes = bytes
        page.hasMore = hasMore
        return page
    }

    /// Appends the rest of a page, which was read with the limits of ``PageLimit/rest(after:)``.
    package mutating func append(rest: PageRows) {
        rows += rest.rows
        bytes += rest.bytes
        hasMore = rest.hasMore
    }
}

extension PageRows: Sendable where Entry: Sendable {}
