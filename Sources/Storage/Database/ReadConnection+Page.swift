extension ReadConnection {
    /// Returns the rows of one page, in the order of the statement, of which no further row is read.
    ///
    /// A row counts with the sizes of its columns, so a statement should select no long texts that the list does not show.
    ///
    /// - Parameter sql: has a LIMIT of ``PageLimit/statementRows``, so that the engine sorts no more rows than needed.
    package func page<T>(
        _ limit: PageLimit, _ sql: String, _ arguments: (any Bindable)?..., row: (Row) throws -> T
    ) throws -> PageRows<T> {
        try page(limit, sql, arguments: arguments, row: row)
    }

    /// Returns the rows of one page of a statement whose number of arguments is known only at run time.
    package func page<T>(
        _ limit: PageLimit, _ sql: String, arguments: [(any Bindable)?], row: (Row) throws -> T
    ) throws -> PageRows<T> {
        var page = PageRows<T>(limit)
        let statement = try start(sql, arguments, mayStopEarly: true)
        defer { statement.reset() }
        while try step(statement) {
            let next = Row(statement: statement)
            let size = next.byteCount
            guard page.admits(size) else { break }
            page.append(try row(next), bytes: size)
        }
        return page
    }
}

extension Row {
    /// The size for which a column counts beside its text, which is about what its name or number takes in a response.
    private static let column = 8

    /// The size of the row in bytes, as ``PageLimit`` counts it.
    package var byteCount: Int {
        statement.columnCount * Self.column + statement.contentBytes
    }
}
