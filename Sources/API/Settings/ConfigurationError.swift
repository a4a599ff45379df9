/// An error in the configuration: names the key and the rule that it violates.
package struct ConfigurationError: Error, Hashable, CustomStringConvertible {
    package let description: String
    /// The key whose value it is about, e.g. `scrub.interval_seconds`; `nil` = the file as a whole, or keys that do not go
    /// together.
    package let key: String?

    package init(_ description: String, key: String? = nil) {
        self.description = description
        self.key = key
    }
}
