import Basics

/// A table that a SQLite file and a schema on a server have in common, as the file describes it.
struct TableLayout {
    /// The types of columns in both engines: INTEGER and BIGINT, TEXT, BLOB and BYTEA.
    enum Kind: String {
        case integer = "INTEGER"
        case text = "TEXT"
        case blob = "BLOB"
    }

    struct Column {
        let name: String
        let kind: Kind
    }

    let name: String
    let columns: [Column]
    /// The positions of the primary key's columns; empty = the table has none, and only a few rows.
    let key: [Int]
    /// Whether numbers of rows that were deleted are not used again (AUTOINCREMENT).
    let keepsNumbers: Bool

    /// The column of numbers that are not used again; `nil` = the table has no such column.
    var numberColumn: String? { keepsNumbers ? key.first.map { columns[$0].name } : nil }

    var quotedName: String { Self.quoted(name) }

    var columnNames: String { columns.map { Self.quoted($0.name) }.joined(separator: ", ") }

    var keyNames: String { key.map { Self.quoted(columns[$0].name) }.joined(separator: ", ") }

    /// The clause that sorts rows in the same way in both engines, whose collations compare bytes.
    var order: String { key.isEmpty ? "" : " ORDER BY \(keyNames)" }

    static func quoted(_ name: String) -> String { "\"" + name.replacing(bytes: ["\"": "\"\""]) + "\"" }

    /// Returns the key of a row.
    func key(of row: [SQLValue]) -> [SQLValue] { key.map { row[$0] } }

    /// Describes a row in an error.
    func describe(_ row: [SQLValue]) -> String {
        let key = zip(self.key, key(of: row)).map { "\(columns[$0].name) = \($1.literal)" }.joined(separator: ", ")
        return "the row of the table \(name)" + (key.isEmpty ? "" : " with \(key)")
    }

    /// Returns the values of a row whose statement selects ``columnNames``.
    func values(of row: Row) -> [SQLValue] {
        columns.indices.map { index in
            let column = Int32(index)
            if row.isNull(column) { return .null }
            return switch columns[index].kind {
            case .integer: .integer(row.int64(column))
            case .text: .text(row.text(column))
            case .blob: .blob(row.blob(column))
            }
        }
    }
}

extension SQLValue {
    /// The value as a person reads it; long ones are cut.
    fileprivate var literal: String {
        switch self {
        case .null: "NULL"
        case .integer(let value): "\(value)"
        case .text(let value): "'\(value.prefix(64))'"
        case .blob(let value):
            "x'\(value.prefix(32).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined())'"
        }
    }
}

extension ReadConnection {
    /// Returns the tables of a SQLite file, each behind those to which it refers, without the list of migrations.
    func tableLayouts() throws -> [TableLayout] {
        let tables = try query(
            """
            SELECT name, instr(sql, 'AUTOINCREMENT') > 0 AS keeps_numbers FROM sqlite_master
            WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name <> 'migrations' ORDER BY name
            """
        ) { row in (name: row.text("name"), keepsNumbers: row.bool("keeps_numbers")) }
        var references: [String: Set<String>] = [:]
        var layouts: [String: TableLayout] = [:]
        for table in tables {
            layouts[table.name] = try layout(table.name, keepsNumbers: table.keepsNumbers)
            let targets = try query("SELECT \"table\" AS target FROM pragma_foreign_key_list($1)", table.name) {
                $0.text("target")
            }
            references[table.name] = Set(targets).subtracting([table.name])
        }
        var sorted: [TableLayout] = []
        while !references.isEmpty {
            let ready = references.filter { $0.value.isDisjoint(with: references.keys) }.keys.sorted()
            guard !ready.isEmpty else { throw DatabaseError.misuse("tables refer to each other in a circle") }
            for name in ready {
                references[name] = nil
                if let layout = layouts[name] { sorted.append(layout) }
            }
        }
        return sorted
    }

    private func layout(_ table: String, keepsNumbers: Bool) throws -> TableLayout {
        var key: [(rank: Int, position: Int)] = []
        let columns = try query(
            "SELECT cid, name, type, pk FROM pragma_table_info($1) ORDER BY cid", table
        ) { row in
            if row.int("pk") > 0 { key.append((row.int("pk"), row.int("cid"))) }
            guard let kind = TableLayout.Kind(rawValue: row.text("type")) else {
                throw DatabaseError.misuse("the table \(table) has a column of the type \(row.text("type"))")
            }
            return TableLayout.Column(name: row.text("name"), kind: kind)
        }
        return TableLayout(
            name: table, columns: columns, key: key.sorted { $0.rank < $1.rank }.map(\.position),
            keepsNumbers: keepsNumbers)
    }
}
