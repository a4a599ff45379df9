import Basics

extension String {
    /// The text in lower case by Unicode's mapping of single scalars, which is the same on every platform and in every locale.
    package var lowercasedByScalar: String {
        if utf8.allSatisfy({ $0 < 0x80 }) {
            return String(decoding: utf8.map { $0.asciiLowercased }, as: UTF8.self)
        }
        var lowered = ""
        for scalar in unicodeScalars { lowered += scalar.properties.lowercaseMapping }
        return lowered
    }
}
