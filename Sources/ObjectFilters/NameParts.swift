/// The parts of a name that words find: any part of at least three characters (Unicode scalars), and shorter ones at a border.
///
/// Borders are the beginning of the name, both sides of a character that is neither a letter nor a digit, the places between letters
/// and digits, and each ideograph.
package enum NameParts {
    /// The length in characters from which on a word is found anywhere.
    package static let shortestInside = 3

    private enum Kind {
        case letter, digit, other
    }

    /// Whether a word finds a name. Both are in lower case.
    package static func name(_ name: String, has word: String) -> Bool {
        guard isShort(word) else { return ObjectFilter.Pattern.part(word).matches(name) }
        var previous: Unicode.Scalar?
        let scalars = name.unicodeScalars
        for index in scalars.indices {
            if isBorder(between: previous, and: scalars[index]), scalars[index...].starts(with: word.unicodeScalars) {
                return true
            }
            previous = scalars[index]
        }
        return false
    }

    /// Whether a word is only found at borders.
    package static func isShort(_ word: String) -> Bool {
        word.unicodeScalars.prefix(shortestInside).count < shortestInside
    }

    /// - Parameter previous: the character before `next`; `nil` = `next` is the first one.
    package static func isBorder(between previous: Unicode.Scalar?, and next: Unicode.Scalar) -> Bool {
        guard let previous else { return true }
        let kind = kind(of: next)
        return kind == .other || kind != self.kind(of: previous) || !next.isASCII && next.properties.isIdeographic
    }

    private static func kind(of scalar: Unicode.Scalar) -> Kind {
        switch scalar {
        case "a"..."z", "A"..."Z": .letter
        case "0"..."9": .digit
        case _ where scalar.isASCII: .other
        default: scalar.properties.numericType != nil ? .digit : scalar.properties.isAlphabetic ? .letter : .other
        }
    }
}
