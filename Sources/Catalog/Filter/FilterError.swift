/// A filter that is not valid, and where.
package struct FilterError: Error, Sendable, Hashable, CustomStringConvertible {
    /// In bytes of UTF-8, counted from 0.
    package let position: Int
    package let expected: String
    package let found: String

    package var description: String { "byte \(position): expected \(expected), found \(found)" }
}
