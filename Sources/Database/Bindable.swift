/// One value as SQLite stores it.
public enum Value: Sendable, Equatable {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])
}

/// What may be an argument of a statement.
public protocol Bindable: Sendable {
    var databaseValue: Value { get }
}

extension Int64: Bindable {
    public var databaseValue: Value { .integer(self) }
}

extension Int: Bindable {
    public var databaseValue: Value { .integer(Int64(self)) }
}

extension Int32: Bindable {
    public var databaseValue: Value { .integer(Int64(self)) }
}

extension Bool: Bindable {
    public var databaseValue: Value { .integer(self ? 1 : 0) }
}

extension String: Bindable {
    public var databaseValue: Value { .text(self) }
}

extension [UInt8]: Bindable {
    public var databaseValue: Value { .blob(self) }
}

extension Value: Bindable {
    public var databaseValue: Value { self }
}
