package import Basics

/// One row of a result, valid inside the closure that receives it.
///
/// Columns are read by their names in the SELECT list, so the order of the list does not matter. An expression, and the second of
/// two columns with the same name, gets a name with AS. An unknown name traps. The methods with a number, which count columns from
/// 0, are for statements in tests.
package struct Row {
    let statement: Statement

    package func isNull(_ name: StaticString) -> Bool { isNull(statement.column(name)) }

    /// Returns an INTEGER; NULL is read as 0.
    package func int64(_ name: StaticString) -> Int64 { int64(statement.column(name)) }

    package func optionalInt64(_ name: StaticString) -> Int64? { optionalInt64(statement.column(name)) }

    /// Returns an INTEGER; NULL is read as 0.
    package func int(_ name: StaticString) -> Int { int(statement.column(name)) }

    /// Returns whether an INTEGER is not 0; NULL is read as `false`.
    package func bool(_ name: StaticString) -> Bool { bool(statement.column(name)) }

    /// Returns a TEXT; NULL is read as the empty string.
    package func text(_ name: StaticString) -> String { text(statement.column(name)) }

    package func optionalText(_ name: StaticString) -> String? { optionalText(statement.column(name)) }

    /// Returns a BLOB; NULL is read as no bytes.
    package func blob(_ name: StaticString) -> [UInt8] { blob(statement.column(name)) }

    /// Returns a time that is never NULL.
    package func time(_ name: StaticString) -> UnixTime { UnixTime(microseconds: int64(name)) }

    package func optionalTime(_ name: StaticString) -> UnixTime? {
        optionalInt64(name).map(UnixTime.init(microseconds:))
    }
}

extension Row {
    package func isNull(_ column: Int32) -> Bool {
        statement.isNull(column)
    }

    package func int64(_ column: Int32) -> Int64 {
        statement.int64(column)
    }

    package func optionalInt64(_ column: Int32) -> Int64? {
        isNull(column) ? nil : int64(column)
    }

    package func int(_ column: Int32) -> Int {
        Int(int64(column))
    }

    package func bool(_ column: Int32) -> Bool {
        int64(column) != 0
    }

    package func text(_ column: Int32) -> String {
        statement.text(column)
    }

    package func optionalText(_ column: Int32) -> String? {
        isNull(column) ? nil : text(column)
    }

    package func blob(_ column: Int32) -> [UInt8] {
        statement.blob(column)
    }
}
