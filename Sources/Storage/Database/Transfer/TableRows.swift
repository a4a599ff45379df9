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
