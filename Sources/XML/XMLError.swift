/// The reason why bytes are rejected as a document, with the position.
package struct XMLError: Error, Hashable, Sendable {
    package enum Reason: Sendable, Hashable {
        /// The grammar of XML 1.0, or of Namespaces in XML 1.0, does not allow these bytes here.
        case syntax
        /// The bytes are not UTF-8, or contain or refer to a character that XML does not allow.
        case invalidText
        /// A feature of XML that no object store's document needs: a document type declaration, a CDATA section, a processing
        /// instruction, an entity other than XML's five, another version or encoding, or a name that is not ASCII.
        case unsupported
        /// The document exceeds a limit of ``XMLLimits``.
        case limitExceeded
    }

    package let reason: Reason
    /// The number of bytes before the error.
    package let offset: Int

    init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }
}

extension XMLError: CustomStringConvertible {
    package var description: String {
        let problem =
            switch reason {
            case .syntax: "the document is not well-formed XML"
            case .invalidText: "the document has bytes or references that are not characters of XML"
            case .unsupported: "the document uses a part of XML that is not supported"
            case .limitExceeded: "the document exceeds a limit of size, depth, attributes or names"
            }
        return "byte \(offset): \(problem)"
    }
}
