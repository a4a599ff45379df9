/// A value in SQLite's types.
package enum SQLValue: Sendable, Hashable {
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

/// A list of parameters in SQL.
package enum ParameterList {
    /// Returns `$1, $2, $3`: `count` parameters, numbered from `first`.
    package static func text(_ count: Int, from first: Int = 1) -> String {
        (first..<first + count).map { "$\($0)" }.joined(separator: ", ")
    }

    /// Returns the values, with the first one repeated until their number is one of `counts`, so that few statements are prepared.
    /// Values without a first one, and more values than the last of `counts`, are returned unchanged.
    package static func padded<Value>(
        _ values: [Value], to counts: [Int] = [1, 10, 50, 100, 250, 500, 1000]
    ) -> [Value] {
        guard let first = values.first, let count = counts.first(where: { $0 >= values.count }) else { return values }
        return values + Array(repeating: first, count: count - values.count)
    }
}
