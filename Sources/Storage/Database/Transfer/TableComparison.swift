/// The rows of two databases that were compared.
package struct CopiedRows: Sendable {
    package var tables = 0
    package var rows = 0
    /// Whether the call has copied them; `false` = an earlier one has.
    package var isNew = true
}

extension [TableLayout] {
    /// Compares all tables.
    ///
    /// - Returns: the number of equal rows, and a sentence on the first difference; `nil` = all rows are equal.
    func difference(_ source: ReadConnection, _ copy: ReadConnection) throws -> (CopiedRows, String?) {
        var equal = CopiedRows()
        for table in self {
            if let difference = try TableComparison(table: table).difference(source, copy, count: &equal.rows) {
                return (equal, difference)
            }
            equal.tables += 1
        }
        return (equal, nil)
    }
}

/// Compares the rows of two databases, one after the other.
struct TableComparison {
    let table: TableLayout

    /// Returns a sentence on the first difference; `nil` = all rows are equal.
    ///
    /// - Parameter equal: rises by the number of equal rows.
    func difference(
        _ source: ReadConnection, _ copy: ReadConnection, count equal: inout Int
    ) throws -> String? {
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
            equal += count
            rows.0.removeFirst(count)
            rows.1.removeFirst(count)
        }
    }
}
