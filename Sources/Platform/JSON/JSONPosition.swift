/// A position in a text for people.
package struct JSONPosition: Sendable, Hashable, CustomStringConvertible {
    /// Counts from 1.
    package let line: Int
    /// Counts from 1, in Unicode scalars.
    package let column: Int

    /// - Parameter offset: in bytes; a larger one than the text has means its end.
    package init(of offset: Int, in text: [UInt8]) {
        let before = text[..<min(offset, text.count)]
        line = 1 + before.count { $0 == 0x0A }
        // All bytes of a scalar but the first begin with the bits 10.
        column = 1 + before.reversed().prefix { $0 != 0x0A }.count { $0 & 0xC0 != 0x80 }
    }

    package var description: String { "line \(line), column \(column)" }
}
