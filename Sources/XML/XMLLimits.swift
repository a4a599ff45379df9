/// Bounds of a document. All but the size are the same for every document: object stores nest at most four deep, and put at
/// most two attributes on an element.
package enum XMLLimits {
    /// Elements that are open at a time, the root included.
    package static let depth = 16
    /// Attributes of one element, namespace declarations included. They are compared pair by pair.
    package static let attributes = 16
    /// Prefixes declared by the elements that are open at a time. Each prefixed name is looked for among them.
    package static let prefixes = 16
    /// Bytes of a name, its prefix included.
    package static let nameBytes = 128
    /// Bytes of an attribute's value as it is written.
    package static let valueBytes = 1024
}
