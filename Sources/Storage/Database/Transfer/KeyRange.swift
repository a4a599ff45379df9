/// The rows of a table from one key, or the first one, to before another, or the last one.
struct KeyRange {
    let table: TableLayout
    private var first: [SQLValue]?
    private var end: [SQLValue]?

    init(table: TableLayout) {
        self.table = table
    }

    func beginning(at key: [SQLValue]) -> KeyRange {
        var range = self
        range.first = key
        return range
    }

    func ending(before key: [SQLValue]) -> KeyRange {
        var range = self
        range.end = key
        return range
    }

    /// Returns the number of rows.
    func count(_ connection: ReadConnection) throws -> Int {
        try connection.query("SELECT count(*) AS number \(clause)", arguments: arguments) { $0.int("number") }.first
            ?? 0
    }

    /// Returns the key of the row at a position.
    func key(at position: Int, _ connection: ReadConnection) throws -> [SQLValue]? {
        try keys(connection, limit: 1, offset: position).first
    }

    /// Returns the keys of all rows.
    func keys(_ connection: ReadConnection) throws -> [[SQLValue]] {
        try keys(connection, limit: .max, offset: 0)
    }

    private func keys(_ connection: ReadConnection, limit: Int, offset: Int) throws -> [[SQLValue]] {
        let layout = TableLayout(
            name: table.name, columns: table.key.map { table.columns[$0] }, key: Array(table.key.indices),
            keepsNumbers: false)
        let count = arguments.count
        return try connection.query(
            "SELECT \(table.keyNames) \(clause)\(table.order) LIMIT $\(count + 1) OFFSET $\(count + 2)",
            arguments: arguments + [limit, offset]
        ) { layout.values(of: $0) }
    }

    private var arguments: [SQLValue] { (first ?? []) + (end ?? []) }

    private var clause: String {
        var conditions: [String] = []
        if let first { conditions.append("(\(table.keyNames)) >= (\(ParameterList.text(first.count)))") }
        if let end {
            conditions.append("(\(table.keyNames)) < (\(ParameterList.text(end.count, from: (first?.count ?? 0) + 1)))")
        }
        return "FROM \(table.quotedName)"
            + (conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND "))
    }
}
