import Basics

/// The rows of a table in the order of its key, read in pages. Each page may be a snapshot of its own.
struct TableRows {
    /// A page has at most this many rows, and about this many bytes.
    private static let page = PageLimit(rows: 1000, bytes: 4 << 20)

    let table: TableLayout
    private var last: [SQLValue]?
    private var isAtEnd = false

    init(of table: TableLayout) {
        self.table = table
    }

    /// Returns the next page; `nil` at the end.
    mutating func next(_ connection: ReadConnection) throws -> [[SQLValue]]? {
        guard !isAtEnd else { return nil }
        let after = last.map { "WHERE (\(table.keyNames)) > (\(ParameterList.text($0.count)))" } ?? ""
        let arguments = last ?? []
        // A table without a key cannot be continued, and has only a few rows.
        let limit = table.key.isEmpty ? PageLimit(rows: .max, bytes: .max) : Self.page
        let page = try connection.page(
            limit,
            "SELECT \(table.columnNames) FROM \(table.quotedName) \(after)\(table.order) LIMIT $\(arguments.count + 1)",
            arguments: arguments + [limit.statementRows]
        ) { table.values(of: $0) }
        isAtEnd = !page.hasMore
        last = page.rows.last.map(table.key(of:))
        return page.rows.isEmpty ? nil : page.rows
    }
}

/// Compares the rows of two databases, one after the other.
struct TableComparison {
    let table: TableLayout

    /// Returns a sentence on the first difference; `nil` = there is none.
    ///
    /// - Parameters:
    ///   - source: reads the next page of its rows, with the given cursor.
    ///   - copy: the same for the copy.
    func difference(_ source: ReadConnection, _ copy: ReadConnection) throws -> String? {
        var pages = (TableRows(of: table), TableRows(of: table))
        var rows: ([[SQLValue]], [[SQLValue]]) = ([], [])
        while true {
            if rows.0.isEmpty { rows.0 = try pages.0.next(source) ?? [] }
            if rows.1.isEmpty { rows.1 = try pages.1.next(copy) ?? [] }
            let count = min(rows.0.count, rows.1.count)
            guard count > 0 else {
                guard let row = rows.0.first ?? rows.1.first else { return nil }
                return "\(table.describe(row)) is in only one of them"
            }
            for (row, other) in zip(rows.0, rows.1) where row != other { return "\(table.describe(row)) differs" }
            rows.0.removeFirst(count)
            rows.1.removeFirst(count)
        }
    }
}
