import CSQLite

/// A prepared statement whose arguments have the numbers in the SQL.
final class Statement {
    let handle: OpaquePointer
    /// Whether rows are being read: the same SQL inside its own row closure needs another statement.
    var isRunning = false
    /// `parameters[n - 1]` is SQLite's index of `$n`.
    private let parameters: [Int32]
    /// The address of the literal that named each column; see ``column(_:)``. Empty before the first use.
    private var literals: [UInt] = []
    /// The column after the one that was read last.
    private var expected = 0

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

    func bind(_ arguments: [(any Bindable)?]) throws(DatabaseError) {
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

    /// - Returns: whether there is a row to read; `false` at the end.
    func step() throws(DatabaseError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code:
            throw DatabaseError(code: code, on: sqlite3_db_handle(handle))
        }
    }

    /// Returns the index of a column by its name in the SELECT list.
    ///
    /// Each name is compared once: afterwards it is identified by the constant address of its literal. Rows are mostly read in the
    /// order of their columns, so the column after the last one is tried first.
    ///
    /// Traps if the statement has no such column, or several with that name.
    func column(_ name: StaticString) -> Int32 {
        let literal = UInt(bitPattern: name.utf8Start)
        var index = expected
        if !isKnown(literal, at: index) { index = find(literal, name) }
        expected = index + 1
        return Int32(truncatingIfNeeded: index)
    }

    private func isKnown(_ literal: UInt, at index: Int) -> Bool {
        guard index < literals.count else { return false }
        return literals[index] == literal
    }

    private func find(_ literal: UInt, _ name: StaticString) -> Int {
        var index = 0
        while index < literals.count {
            if literals[index] == literal { return index }
            index += 1
        }
        return search(literal, name)
    }

    private func search(_ literal: UInt, _ name: StaticString) -> Int {
        let count = Int(sqlite3_column_count(handle))
        if literals.isEmpty { literals = Array(repeating: 0, count: count) }
        var found: Int?
        for index in 0..<count {
            let isSame = name.utf8Start.withMemoryRebound(to: CChar.self, capacity: 1) {
                sqlite3_stricmp(sqlite3_column_name(handle, Int32(index)), $0) == 0
            }
            guard isSame else { continue }
            precondition(found == nil, "The statement has two columns of the name \(name).")
            found = index
        }
        guard let found else { preconditionFailure("The statement has no column \(name).") }
        literals[found] = literal
        return found
    }

    /// Ends an execution, whatever its result.
    func reset() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
        isRunning = false
    }
}
