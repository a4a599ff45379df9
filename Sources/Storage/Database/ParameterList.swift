/// A list of parameters in SQL.
package enum ParameterList {
    /// Returns `$1, $2, $3`: `count` parameters, numbered from `first`.
    package static func text(_ count: Int, from first: Int = 1) -> String {
        (first..<first + count).map { "$\($0)" }.joined(separator: ", ")
    }
}
