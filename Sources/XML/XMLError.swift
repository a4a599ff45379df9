/// The reason why bytes are not read as a document, and where.
package struct XMLError: Error, Hashable, Sendable {
    package enum Reason: Sendable, Hashable {
        /// The grammar of XML 1.0, or of Namespaces in XML 1.0, does not allow these bytes here.
        case syntax
        /// The bytes are not UTF-8, or they or a character reference stand for a character that XML does not allow.
        case invalidText
        /// Well-formed XML, perhaps, but of a kind that no object store's document needs: a document type declaration, a
        /// CDATA section, a processing instruction, an entity beyond the five of XML, another version or encoding, a name
        /// that is not ASCII.
        case unsupported
        /// The document exceeds a limit of ``XMLLimits``.
        case limitExceeded
    }

    package let reason: Reason
    /// Number of bytes before the place where reading stopped.
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
