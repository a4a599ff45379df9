import CSQLite

final class SQLiteStatement: Statement {
    private let handle: OpaquePointer
    /// `parameters[n - 1]` is SQLite's index of `$n`.
    private let parameters: [Int32]

    init(_ sql: String, on database: OpaquePointer) throws(DatabaseError) {
        var prepared: OpaquePointer?
        let code = sqlite3_prepare_v3(database, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard code == SQLITE_OK else {
            throw DatabaseError(code: code, on: database)
        }
        guard let prepared else { throw .misuse("the SQL text holds no statement") }
        handle = prepared

        // SQLite numbers `$1` and `$2` by their positions, not by their digits: in `$2, $1`, `$2` is the first.
        let count = sqlite3_bind_parameter_count(prepared)
        var parameters: [Int32] = []
        for number in 0..<count {
            let index = sqlite3_bind_parameter_index(prepared, "$\(number + 1)")
            guard index > 0 else {
                sqlite3_finalize(prepared)
                throw .misuse("\(count) parameters are not $1 to $\(count): \(sql)")
            }
            parameters.append(index)
        }
        self.parameters = parameters
    }

    deinit {
        sqlite3_finalize(handle)
    }

    /// Whether the statement leaves the file as it is. The EXPLAIN of a statement that writes does not run it.
    var isReadOnly: Bool { sqlite3_stmt_readonly(handle) != 0 || sqlite3_stmt_isexplain(handle) != 0 }

    override func bind(_ arguments: [(any Bindable)?]) throws(DatabaseError) {
        guard arguments.count == parameters.count else {
            throw .misuse("\(arguments.count) arguments for \(parameters.count) parameters")
        }
        for (index, argument) in zip(parameters, arguments) {
            let code: Int32
            switch argument?.databaseValue ?? .null {
            case .null:
                code = sqlite3_bind_null(handle, index)
            case .integer(let value):
                code = sqlite3_bind_int64(handle, index, value)
            case .text(var value):
                code = value.withUTF8 { bytes in
                    bytes.withMemoryRebound(to: CChar.self) { text in
                        // An empty string may have no address, and without one SQLite binds NULL.
                        text.isEmpty
                            ? csqlite_bind_text(handle, index, "", 0)
                            : csqlite_bind_text(handle, index, text.baseAddress, Int32(clamping: text.count))
                    }
                }
            case .blob(let value):
                code =
                    value.isEmpty
                    ? sqlite3_bind_zeroblob(handle, index, 0)
                    : csqlite_bind_blob(handle, index, value, Int32(clamping: value.count))
            }
            guard code == SQLITE_OK else { throw .failed(code: code, message: "binding a parameter failed") }
        }
    }

    override func step() throws(DatabaseError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code:
            throw DatabaseError(code: code, on: sqlite3_db_handle(handle))
        }
    }

    override func reset() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
        isRunning = false
    }

    override var changedRows: Int { Int(sqlite3_changes64(sqlite3_db_handle(handle))) }

    override var columnCount: Int { Int(sqlite3_column_count(handle)) }

    override func isColumn(_ index: Int, named name: UnsafePointer<CChar>) -> Bool {
        sqlite3_stricmp(sqlite3_column_name(handle, Int32(index)), name) == 0
    }

    override func isNull(_ column: Int32) -> Bool {
        sqlite3_column_type(handle, column) == SQLITE_NULL
    }

    override func int64(_ column: Int32) -> Int64 {
        sqlite3_column_int64(handle, column)
    }

    override func text(_ column: Int32) -> String {
        guard let text = sqlite3_column_text(handle, column) else { return "" }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
    }

    override func blob(_ column: Int32) -> [UInt8] {
        guard let bytes = sqlite3_column_blob(handle, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column))))
    }

    override var contentBytes: Int {
        let columns = sqlite3_column_count(handle)
        var count = 0
        // Not a loop over a range, which allocates memory for each number where it is not optimized.
        var column: Int32 = 0
        while column < columns {
            let type = sqlite3_column_type(handle, column)
            // Asking for the bytes of a number would convert it to text.
            if type == SQLITE_TEXT || type == SQLITE_BLOB { count += Int(sqlite3_column_bytes(handle, column)) }
            column += 1
        }
        return count
    }
}
