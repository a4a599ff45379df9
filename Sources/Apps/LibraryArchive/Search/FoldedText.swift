import Basics

/// A text in UTF-16 in which upper and lower case are equal (Unicode 15, section 3.13, simple case folding). Each unit belongs to the
/// unit of the text at the same position.
struct FoldedText: Sendable {
    let units: [UInt16]
    /// Whether folding changes the text, or other texts that fold to it.
    private(set) var hasCase = false

    init(_ text: String) {
        var units: [UInt16] = []
        units.reserveCapacity(text.utf16.count)
        var hasCase = false
        for scalar in text.unicodeScalars {
            let folded = CaseFolding.folded(scalar)
            hasCase = hasCase || CaseFolding.hasCase(folded)
            units.append(contentsOf: folded.utf16)
        }
        self.units = units
        self.hasCase = hasCase
    }

    /// Returns the positions at which `other` begins, without overlaps, at most `limit`. The time is linear in the lengths of both texts
    /// (Knuth, Morris and Pratt, 1977): people choose both.
    func positions(of other: FoldedText, limit: Int = .max) -> [Int] {
        let (count, length) = (units.count, other.units.count)
        guard length > 0, length <= count else { return [] }
        let borders = other.borders
        return units.withUnsafeBufferPointer { units in
            other.units.withUnsafeBufferPointer { pattern in
                var found: [Int] = []
                var (position, matching) = (0, 0)
                while position < count, found.count < limit {
                    while matching > 0, units[position] != pattern[matching] { matching = borders[matching - 1] }
                    if units[position] == pattern[matching] { matching += 1 }
                    position += 1
                    guard matching == length else { continue }
                    found.append(position - length)
                    matching = 0
                }
                return found
            }
        }
    }

    /// The length of the longest proper prefix of each prefix of the text that also ends it.
    private var borders: [Int] {
        var borders = [Int](repeating: 0, count: units.count)
        var length = 0
        for index in units.indices.dropFirst() {
            while length > 0, units[index] != units[length] { length = borders[length - 1] }
            if units[index] == units[length] { length += 1 }
            borders[index] = length
        }
        return borders
    }
}

/// The simple case folding of scalars. A scalar and its folded form have the same number of UTF-16 code units.
enum CaseFolding {
    static func folded(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        if scalar.isASCII { return Unicode.Scalar(UInt8(ascii: scalar).asciiLowercased) }
        // Most texts of this app: no script from here to the full-width letters has case, except those below U+AB00.
        if 0x2E80..<0xA640 ~= scalar.value { return scalar }
        return table[scalar] ?? scalar
    }

    /// Whether a folded scalar is also the form of another scalar.
    static func hasCase(_ folded: Unicode.Scalar) -> Bool {
        folded.isASCII ? UInt8(ascii: folded).isASCIILetter : targets.contains(folded)
    }

    private static let targets = Set(table.values)

    private static let table: [Unicode.Scalar: Unicode.Scalar] = {
        var table: [Unicode.Scalar: Unicode.Scalar] = [:]
        // No script beyond these planes has case.
        for value in UInt32(0x80)..<0x20000 {
            guard let scalar = Unicode.Scalar(value), scalar.properties.changesWhenCaseMapped,
                let folded = single(single(scalar.properties.uppercaseMapping)?.properties.lowercaseMapping ?? "")
                    ?? single(scalar.properties.lowercaseMapping),
                folded != scalar, UTF16.width(folded) == UTF16.width(scalar),
                // The dotless i is a letter of its own.
                value != 0x131
            else { continue }
            table[scalar] = folded
        }
        return table
    }()

    private static func single(_ text: String) -> Unicode.Scalar? {
        let scalars = text.unicodeScalars
        return scalars.count == 1 ? scalars.first : nil
    }
}
