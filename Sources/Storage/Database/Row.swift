import CSQLite

/// One row of a result, valid inside the closure that receives it. Columns count from 0, in the order of the SELECT.
package struct Row {
    let handle: OpaquePointer

    package func isNull(_ column: Int32) -> Bool {
        sqlite3_column_type(handle, column) == SQLITE_NULL
    }

    /// An INTEGER; NULL reads as 0.
    package func int64(_ column: Int32) -> Int64 {
        sqlite3_column_int64(handle, column)
    }

    package func optionalInt64(_ column: Int32) -> Int64? {
        isNull(column) ? nil : int64(column)
    }

    /// An INTEGER; NULL reads as 0.
    package func int(_ column: Int32) -> Int {
        Int(int64(column))
    }

    /// An INTEGER other than 0; NULL reads as `false`.
    package func bool(_ column: Int32) -> Bool {
        int64(column) != 0
    }

    /// A TEXT; NULL reads as the empty string.
    package func text(_ column: Int32) -> String {
        guard let text = sqlite3_column_text(handle, column) else { return "" }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
    }

    package func optionalText(_ column: Int32) -> String? {
        isNull(column) ? nil : text(column)
    }

    /// A BLOB; NULL reads as no bytes.
    package func blob(_ column: Int32) -> [UInt8] {
        guard let bytes = sqlite3_column_blob(handle, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column))))
    }

    package func optionalBlob(_ column: Int32) -> [UInt8]? {
        isNull(column) ? nil : blob(column)
    }
}
