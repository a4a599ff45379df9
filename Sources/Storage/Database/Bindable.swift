/// One value as SQLite stores it.
package enum Value: Sendable, Equatable {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])
}

/// What may be an argument of a statement.
package protocol Bindable: Sendable {
    var databaseValue: Value { get }
}

extension Int64: Bindable {
    package var databaseValue: Value { .integer(self) }
}

extension Int: Bindable {
    package var databaseValue: Value { .integer(Int64(self)) }
}

extension Int32: Bindable {
    package var databaseValue: Value { .integer(Int64(self)) }
}

extension Bool: Bindable {
    package var databaseValue: Value { .integer(self ? 1 : 0) }
}

extension String: Bindable {
    package var databaseValue: Value { .text(self) }
}

extension [UInt8]: Bindable {
    package var databaseValue: Value { .blob(self) }
}

extension Value: Bindable {
    package var databaseValue: Value { self }
}
