import ObjectFilters

/// A key of the index of names: three characters (Unicode scalars) that follow each other in a name in lower case, or, for short
/// words, a blank and the first one or two characters at a border of the name.
struct NameKey: Hashable {
    /// The number of keys that a search uses at most, as further ones seldom exclude anything.
    private static let mostOfSearch = 16
    private static let width: UInt64 = 21
    private static let mask: UInt64 = 1 << width - 1

    /// The characters, 21 bits for each, the first one in the lowest bits; 0 = none.
    private let value: UInt64

    private init(_ first: Unicode.Scalar, _ second: Unicode.Scalar, _ third: Unicode.Scalar?) {
        value =
            UInt64(first.value) | UInt64(second.value) << Self.width | UInt64(third?.value ?? 0) << (2 * Self.width)
    }

    /// The text in the table, of at most 12 bytes.
    var text: String {
        var text = ""
        for place in 0..<UInt64(3) {
            guard let scalar = Unicode.Scalar(UInt32(value >> (place * Self.width) & Self.mask)), scalar.value > 0
            else {
                break
            }
            text.unicodeScalars.append(scalar)
        }
        return text
    }

    /// Calls `body` with the keys of a name in lower case, some of them repeatedly.
    static func forEach(in name: String, _ body: (NameKey) -> Void) {
        var (first, second): (Unicode.Scalar?, Unicode.Scalar?)
        var isSecondAtBorder = false
        for scalar in name.unicodeScalars {
            if let first, let second { body(NameKey(first, second, scalar)) }
            if let second, isSecondAtBorder { body(NameKey(" ", second, scalar)) }
            isSecondAtBorder = NameParts.isBorder(between: second, and: scalar)
            if isSecondAtBorder { body(NameKey(" ", scalar, nil)) }
            (first, second) = (second, scalar)
        }
    }

    /// Returns keys that all names with a part in lower case have; none for a part below three characters.
    static func keys(ofPart part: String) -> Set<NameKey> {
        let scalars = Array(part.unicodeScalars)
        guard scalars.count >= 3 else { return [] }
        let starts = 0...(scalars.count - 3)
        // Those of a long part are spread over it.
        let step = (starts.count + mostOfSearch - 1) / mostOfSearch
        return Set(
            stride(from: 0, to: starts.count, by: step).map {
                NameKey(scalars[$0], scalars[$0 + 1], scalars[$0 + 2])
            })
    }

    /// Returns keys that all names with some parts in lower case have.
    static func keys(ofParts parts: [String]) -> Set<NameKey> {
        Set(parts.flatMap(keys(ofPart:)).prefix(mostOfSearch))
    }

    /// Returns keys that all names have which a word in lower case finds.
    static func keys(ofWord word: String) -> Set<NameKey> {
        let scalars = Array(word.unicodeScalars.prefix(3))
        guard let first = scalars.first, scalars.count < 3 else { return keys(ofPart: word) }
        return [NameKey(" ", first, scalars.dropFirst().first)]
    }
}
