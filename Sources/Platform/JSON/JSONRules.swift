import Basics

/// The rules for a JSON text besides those of RFC 8259.
package struct JSONRules: Sendable {
    /// The deepest nesting of objects and arrays.
    package var maximumDepth = 100
    /// Whether the text may be JSON5 (json5.org, version 1.0.0): JSON with comments, trailing commas, unquoted names, single
    /// quotation marks and more forms of numbers. Infinity and NaN are not among them.
    package var isJSON5 = false
    /// Whether blanks and line ends may be between the tokens.
    package var permitsBlanks = true
    /// Whether ``JSONValue`` may have objects with two members of the same name.
    package var permitsRepeatedNames = true
    /// Whether `\$` is an escape of the dollar sign, as in the policies of S3.
    package var permitsEscapedDollar = false
    /// Whether a string may have the character U+0000, which PostgreSQL has in no text.
    package var permitsNullCharacter = true

    package init() {}

    package static let json = JSONRules()

    /// For documents whose texts are stored.
    package static let stored = {
        var rules = JSONRules()
        rules.permitsNullCharacter = false
        return rules
    }()

    /// For configurations.
    package static let json5 = {
        var rules = JSONRules()
        rules.maximumDepth = 32
        rules.isJSON5 = true
        rules.permitsRepeatedNames = false
        return rules
    }()

    /// For tokens, which must have one meaning only (RFC 8725, section 2.7).
    package static let token = {
        var rules = JSONRules()
        rules.permitsRepeatedNames = false
        return rules
    }()
}
