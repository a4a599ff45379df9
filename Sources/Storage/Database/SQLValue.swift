/// A value in SQLite's types.
package enum SQLValue: Sendable, Equatable {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])
}

/// A type whose values can be arguments of a statement.
package protocol Bindable: Sendable {
    var databaseValue: SQLValue { get }
}

extension Int64: Bindable {
    package var databaseValue: SQLValue { .integer(self) }
}

extension Int: Bindable {
    package var databaseValue: SQLValue { .integer(Int64(self)) }
}

extension Int32: Bindable {
    package var databaseValue: SQLValue { .integer(Int64(self)) }
}

extension Bool: Bindable {
    package var databaseValue: SQLValue { .integer(self ? 1 : 0) }
}

extension String: Bindable {
    package var databaseValue: SQLValue { .text(self) }
}

extension [UInt8]: Bindable {
    package var databaseValue: SQLValue { .blob(self) }
}

extension SQLValue: Bindable {
    package var databaseValue: SQLValue { self }
}
