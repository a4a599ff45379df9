/// The limits of documents. Except for the size they are the same for every document: object stores nest at most four levels, and
/// put at most two attributes on an element.
package enum XMLLimits {
    /// Elements that are open at the same time, including the root.
    package static let depth = 16
    /// Attributes of one element, including namespace declarations. They are compared pair by pair.
    package static let attributes = 16
    /// Prefixes that open elements declare. Each prefixed name is looked up among them.
    package static let prefixes = 16
    /// Bytes of a name, including its prefix.
    package static let nameBytes = 128
    /// Bytes of an attribute's value before escapes are resolved.
    package static let valueBytes = 1024
}
