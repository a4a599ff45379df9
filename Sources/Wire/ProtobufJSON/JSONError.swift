/// Why JSON is not the message that it should be, or a message has no JSON form.
public struct JSONError: Error, Sendable, Hashable {
    public enum Reason: Sendable, Hashable {
        /// No JSON: RFC 8259 says what is.
        case syntax
        /// Not UTF-8, or half of a surrogate pair.
        case invalidText
        /// Nested more than `ProtobufReader.depthLimit` deep.
        case tooDeep
        /// A member that the message has no field for.
        case unknownField
        /// A field, or two cases of a oneof, given twice.
        case duplicateField
        /// A value that the field's type cannot hold.
        case invalidValue
        /// An `Any` of a type that the schema does not know.
        case unknownType
        /// A message that JSON cannot express, such as a Timestamp outside the years 1 to 9999.
        case notRepresentable
    }

    public let reason: Reason
    /// Where in the text, in bytes; 0 when a message was being written.
    public let offset: Int
    /// The field's name, where one is to blame.
    public let field: String?

    init(_ reason: Reason, at offset: Int = 0, field: String? = nil) {
        self.reason = reason
        self.offset = offset
        self.field = field
    }
}
