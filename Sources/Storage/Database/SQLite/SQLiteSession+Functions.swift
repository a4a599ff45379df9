import CSQLite

/// Functions of PostgreSQL that SQLite lacks, so that a statement has one text for both.
extension SQLiteSession {
    /// The version of SQLite that has `octet_length`.
    private static let versionWithOctetLength: Int32 = 3_043_000

    /// Defines the functions on this connection.
    func defineFunctions() throws(DatabaseError) {
        guard sqlite3_libversion_number() < Self.versionWithOctetLength else { return }
        let code = sqlite3_create_function_v2(
            handle, "octet_length", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, nil,
            { context, _, arguments in
                // The number of bytes is that of the text only after a number was converted to one.
                guard let value = arguments?[0], sqlite3_value_type(value) != SQLITE_NULL else { return }
                if sqlite3_value_type(value) != SQLITE_BLOB { _ = sqlite3_value_text(value) }
                sqlite3_result_int64(context, Int64(sqlite3_value_bytes(value)))
            }, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(code) }
    }
}
