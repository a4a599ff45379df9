/// An error in the text of a configuration, with its position; line and column count from 1, in Unicode scalars.
struct JSON5Error: Error, Hashable, CustomStringConvertible {
    let line: Int
    let column: Int
    let problem: String

    var description: String { "line \(line), column \(column): \(problem)" }
}

/// Parses JSON5 (json5.org, version 1.0.0): JSON with comments, trailing commas, unquoted names and single quotation marks. Unlike
/// JSON5, a repeated member is an error.
struct JSON5Reader {
    /// The deepest nesting.
    private static let deepest = 32

    private let scalars: [Unicode.Scalar]
    private var position = 0
    private var depth = 0
    /// The names and numbers that lead to where the reader is: `section`, `list`, `[0]`.
    private var path: [String] = []
    private var lines: [String: Int] = [:]
    /// The member that was entered last, up to which lines are counted.
    private var counted = (position: 0, line: 1)

    static func value(of text: String) throws(JSON5Error) -> ConfigurationValue { try document(of: text).value }

    /// The value, and the line of each member by its path, e.g. `section.list[0].name`.
    static func document(of text: String) throws(JSON5Error) -> (value: ConfigurationValue, lines: [String: Int]) {
        var reader = JSON5Reader(scalars: Array(text.unicodeScalars))
        let value = try reader.value()
        try reader.skipBlanks()
        guard reader.position == reader.scalars.count else {
            throw reader.error("expected the end of the file after the value")
        }
        return (value, reader.lines)
    }

    private init(scalars: [Unicode.Scalar]) {
        self.scalars = scalars
    }

    // MARK: Values

    private mutating func value() throws(JSON5Error) -> ConfigurationValue {
        try skipBlanks()
        switch peek {
        case "{": return .object(try nested { (reader) throws(JSON5Error) in try reader.members() })
        case "[": return .list(try nested { (reader) throws(JSON5Error) in try reader.elements() })
        case "\"", "'": return .text(try string())
        case nil: throw error("expected a value before the end of the file")
        default: return try word()
        }
    }

    private mutating func nested<Value>(
        _ read: (inout JSON5Reader) throws(JSON5Error) -> Value
    ) throws(JSON5Error) -> Value {
        guard depth < Self.deepest else { throw error("the value is nested more than \(Self.deepest) levels deep") }
        depth += 1
        position += 1
        defer { depth -= 1 }
        return try read(&self)
    }

    private mutating func members() throws(JSON5Error) -> [String: ConfigurationValue] {
        var members: [String: ConfigurationValue] = [:]
        while try !closes("}") {
            let start = position
            let name = try name()
            try skipBlanks()
            guard take(":") else { throw error("expected a colon after \(name)") }
            enter(name, at: start)
            defer { path.removeLast() }
            guard members.updateValue(try value(), forKey: name) == nil else {
                throw error("the key \(name) is given twice", at: start)
            }
            try separate("}")
        }
        return members
    }

    private mutating func elements() throws(JSON5Error) -> [ConfigurationValue] {
        var elements: [ConfigurationValue] = []
        while try !closes("]") {
            enter("[\(elements.count)]", at: position)
            defer { path.removeLast() }
            elements.append(try value())
            try separate("]")
        }
        return elements
    }

    private mutating func enter(_ name: String, at start: Int) {
        path.append(name)
        let place = path.joined(separator: ".").replacing(".[", with: "[")
        counted = (start, counted.line + scalars[counted.position..<start].count { $0 == "\n" })
        lines[place] = counted.line
    }

    private mutating func closes(_ end: Unicode.Scalar) throws(JSON5Error) -> Bool {
        try skipBlanks()
        return take(end)
    }

    /// Reads the comma after a member or an element; none is needed before the end.
    private mutating func separate(_ end: Unicode.Scalar) throws(JSON5Error) {
        try skipBlanks()
        guard take(",") || peek == end else { throw error("expected a comma or \(end)") }
    }

    private mutating func name() throws(JSON5Error) -> String {
        if peek == "\"" || peek == "'" { return try string() }
        let start = position
        let name = takeAll { $0 == "_" || $0 == "$" || $0.properties.isIDContinue }
        guard let first = name.unicodeScalars.first, first.properties.numericType == nil else {
            throw error("expected a key", at: start)
        }
        return name
    }

    /// Reads a number, or one of the words that are values.
    private mutating func word() throws(JSON5Error) -> ConfigurationValue {
        let start = position
        let word = takeAll { $0 == "+" || $0 == "-" || $0 == "." || $0.properties.isIDContinue }
        switch word {
        case "true": return .flag(true)
        case "false": return .flag(false)
        case "null": return .null
        default:
            guard let number = Self.number(word) else {
                if word.isEmpty { throw error("expected a value", at: start) }
                throw error("unexpected \(word): strings must be in quotation marks", at: start)
            }
            return number
        }
    }

    private static func number(_ word: String) -> ConfigurationValue? {
        let isNegative = word.hasPrefix("-")
        let digits = isNegative || word.hasPrefix("+") ? word.dropFirst() : word[...]
        if digits.hasPrefix("0x") || digits.hasPrefix("0X") {
            guard let first = digits.dropFirst(2).first, first.isHexDigit,
                let whole = Int64(digits.dropFirst(2), radix: 16)
            else { return nil }
            return .integer(isNegative ? -whole : whole)
        }
        guard digits.contains(where: \.isNumber), digits.first?.isNumber == true || digits.first == ".",
            !(digits.count > 1 && digits.hasPrefix("0") && digits.dropFirst().first?.isNumber == true)
        else { return nil }
        if let whole = Int64(word) { return .integer(whole) }
        // `.5` and `5.` are valid in JSON5, but not in Swift.
        let fraction = digits.hasPrefix(".") ? "0\(digits)" : digits.hasSuffix(".") ? "\(digits)0" : String(digits)
        return Double(fraction).map { .number(isNegative ? -$0 : $0) }
    }

    // MARK: Strings

    private mutating func string() throws(JSON5Error) -> String {
        let start = position
        let quote = scalars[position]
        position += 1
        var text = String.UnicodeScalarView()
        while let scalar = next() {
            switch scalar {
            case quote: return String(text)
            case "\n", "\r": throw error("the closing quotation mark is missing", at: start)
            case "\\": if let escaped = try escape() { text.append(escaped) }
            default: text.append(scalar)
            }
        }
        throw error("the closing quotation mark is missing", at: start)
    }

    /// Reads an escape; `nil` for an escaped line end, which is removed.
    private mutating func escape() throws(JSON5Error) -> Unicode.Scalar? {
        let start = position
        switch next() {
        case "b": return "\u{8}"
        case "f": return "\u{C}"
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "v": return "\u{B}"
        case "0" where peek?.properties.numericType == nil: return "\0"
        case "x": return try hexadecimal(2)
        case "u": return try hexadecimal(4)
        case "\r":
            _ = take("\n")
            return nil
        case "\n", "\u{2028}", "\u{2029}": return nil
        case let scalar? where scalar.properties.numericType == nil: return scalar
        default: throw error("the escape sequence is unknown", at: start)
        }
    }

    private mutating func hexadecimal(_ count: Int) throws(JSON5Error) -> Unicode.Scalar {
        let start = position
        let unit = try codeUnit(count)
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard unit < 0xDC00, take("\\"), take("u"), case let low = try codeUnit(4), (0xDC00...0xDFFF).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
        else { throw error("the escape sequence is only one half of a surrogate pair", at: start) }
        return scalar
    }

    /// Reads `count` hexadecimal digits.
    private mutating func codeUnit(_ count: Int) throws(JSON5Error) -> UInt32 {
        let start = position
        var unit: UInt32 = 0
        for _ in 0..<count {
            guard let digit = next().flatMap({ Character($0).hexDigitValue }) else {
                throw error("expected \(count) hexadecimal digits", at: start)
            }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }

    // MARK: Scalars

    private var peek: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

    private mutating func next() -> Unicode.Scalar? {
        guard let scalar = peek else { return nil }
        position += 1
        return scalar
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard peek == scalar else { return false }
        position += 1
        return true
    }

    private mutating func takeAll(where isWanted: (Unicode.Scalar) -> Bool) -> String {
        var text = String.UnicodeScalarView()
        while let scalar = peek, isWanted(scalar) {
            text.append(scalar)
            position += 1
        }
        return String(text)
    }

    /// Skips white space and comments.
    private mutating func skipBlanks() throws(JSON5Error) {
        while let scalar = peek {
            if scalar.properties.isWhitespace || scalar == "\u{FEFF}" {
                position += 1
            } else if scalar == "/", position + 1 < scalars.count, scalars[position + 1] == "/" {
                _ = takeAll { $0 != "\n" && $0 != "\r" }
            } else if scalar == "/", position + 1 < scalars.count, scalars[position + 1] == "*" {
                try skipComment()
            } else {
                return
            }
        }
    }

    private mutating func skipComment() throws(JSON5Error) {
        let start = position
        position += 2
        while let scalar = next() {
            if scalar == "*", take("/") { return }
        }
        throw error("the end of the comment is missing", at: start)
    }

    private func error(_ problem: String, at position: Int? = nil) -> JSON5Error {
        let before = scalars[..<(position ?? self.position)]
        let line = before.count { $0 == "\n" } + 1
        let column = before.count - (before.lastIndex(of: "\n").map { $0 + 1 } ?? 0) + 1
        return JSON5Error(line: line, column: column, problem: problem)
    }
}
