/// The reason why a text is not the expected JSON, or why a message has no JSON form.
public struct JSONError: Error, Sendable, Hashable {
    public enum Reason: Sendable, Hashable {
        /// The text is not JSON (RFC 8259).
        case syntax
        /// Not UTF-8, or half of a surrogate pair.
        case invalidText
        /// Nested deeper than the reader permits: a message more than `ProtobufReader.depthLimit` deep.
        case tooDeep
        /// The message has no field for a member.
        case unknownField
        /// A field, or two fields of a oneof, is given twice.
        case duplicateField
        /// A value that the field's type cannot hold.
        case invalidValue
        /// An `Any` contains a type that is not in the schema.
        case unknownType
        /// JSON cannot express the message, e.g. a Timestamp outside the years 1 to 9999.
        case notRepresentable
    }

    public let reason: Reason
    /// The position in the text, in bytes; 0 when writing a message.
    public let offset: Int
    /// The name of the field in error, if there is one.
    public let field: String?
    /// The problem for people who write the text by hand, without a full stop; `nil` if there is no more than the reason.
    package let problem: String?

    package init(_ reason: Reason, at offset: Int = 0, field: String? = nil, problem: String? = nil) {
        self.reason = reason
        self.offset = offset
        self.field = field
        self.problem = problem
    }
}

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
