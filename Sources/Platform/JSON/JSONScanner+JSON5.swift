import Basics

/// The tokens that JSON5 permits and JSON does not.
extension JSONScanner {
    /// Returns the name of a member, which needs no quotation marks if it is an identifier.
    mutating func name() throws(JSONError) -> String {
        if isQuote(peek()) { return try string() }
        let start = offset
        let name = takeAll { $0 == "_" || $0 == "$" || $0.properties.isIDContinue }
        guard let first = name.unicodeScalars.first, first.properties.numericType == nil else {
            throw error("expected a key", at: start)
        }
        return name
    }

    /// Returns a number, or one of the words that are values.
    mutating func wordOfJSON5() throws(JSONError) -> JSONValue {
        if peek() == 0, offset == text.count { throw error("expected a value before the end of the file") }
        let start = offset
        let word = takeAll { $0 == "+" || $0 == "-" || $0 == "." || $0.properties.isIDContinue }
        switch word {
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "null": return .null
        case "": throw error("expected a value", at: start)
        default:
            guard let number = Self.number(word) else {
                throw error("unexpected \(word): strings must be in quotation marks", at: start)
            }
            return number
        }
    }

    private static func number(_ word: String) -> JSONValue? {
        let isNegative = word.hasPrefix("-")
        let digits = isNegative || word.hasPrefix("+") ? word.dropFirst() : word[...]
        if digits.hasPrefix("0x") || digits.hasPrefix("0X") {
            guard let first = digits.dropFirst(2).first, first.isHexDigit,
                let whole = Int64(digits.dropFirst(2), radix: 16)
            else { return nil }
            return .number(isNegative ? -whole : whole)
        }
        guard digits.contains(where: \.isNumber), digits.first?.isNumber == true || digits.first == ".",
            !(digits.count > 1 && digits.hasPrefix("0") && digits.dropFirst().first?.isNumber == true)
        else { return nil }
        if let whole = Int64(word) { return .number(whole) }
        // `.5` and `5.` are valid in JSON5, but not in Swift.
        let fraction = digits.hasPrefix(".") ? "0\(digits)" : digits.hasSuffix(".") ? "\(digits)0" : String(digits)
        guard let number = Double(fraction), number.isFinite else { return nil }
        return .decimal("\(isNegative ? -number : number)")
    }

    /// Reads an escape that JSON does not have, after the backslash.
    mutating func escapeOfJSON5(into bytes: inout ArraySlice<UInt8>) throws(JSONError) {
        let start = offset
        guard let scalar = takeScalar() else { throw error("the escape sequence is unknown", at: start) }
        switch scalar {
        case "v": bytes.append(0x0B)
        case "0" where self.scalar?.properties.numericType == nil: bytes.append(0)
        case "x": bytes += String(Unicode.Scalar(UInt8(truncatingIfNeeded: try hexadecimal(2)))).utf8
        // An escaped line end is no part of the string.
        case "\r": _ = take(unescaped: "\n")
        case "\n", "\u{2028}", "\u{2029}": break
        case _ where scalar.properties.numericType == nil: bytes += String(scalar).utf8
        default: throw error("the escape sequence is unknown", at: start)
        }
    }

    // MARK: Scalars

    /// The next scalar; `nil` at the end of the text and in front of bytes that are not UTF-8.
    private var scalar: Unicode.Scalar? {
        guard offset < text.count else { return nil }
        if text[offset] < 0x80 { return Unicode.Scalar(text[offset]) }
        var bytes = text[offset...].prefix(4).makeIterator()
        var decoder = UTF8()
        return if case .scalarValue(let scalar) = decoder.decode(&bytes) { scalar } else { nil }
    }

    private mutating func takeScalar() -> Unicode.Scalar? {
        guard let scalar else { return nil }
        offset += UTF8.width(scalar)
        return scalar
    }

    private mutating func takeAll(where isWanted: (Unicode.Scalar) -> Bool) -> String {
        var text = String.UnicodeScalarView()
        while let scalar, isWanted(scalar) {
            text.append(scalar)
            offset += UTF8.width(scalar)
        }
        return String(text)
    }

    /// Stops in front of a comment without an end.
    mutating func skipBlanksAndComments() {
        while let scalar {
            let rest = text[offset...]
            if scalar.properties.isWhitespace || scalar == "\u{FEFF}" {
                offset += UTF8.width(scalar)
            } else if rest.starts(with: "//".utf8) {
                offset = rest.firstIndex { $0 == 0x0A || $0 == 0x0D } ?? text.count
            } else if rest.starts(with: "/*".utf8) {
                var place = offset + 2
                while place + 1 < text.count, !text[place...].starts(with: "*/".utf8) { place += 1 }
                guard place + 1 < text.count else { return }
                offset = place + 2
            } else {
                return
            }
        }
    }
}
