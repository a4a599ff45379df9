/// An invalid filter, with the position of the error.
package struct FilterError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The offset in bytes of UTF-8.
    package let position: Int
    package let expected: String
    package let found: String

    package var description: String { "byte \(position): expected \(expected), found \(found)" }
}
