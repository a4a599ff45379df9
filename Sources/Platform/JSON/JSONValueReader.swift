/// Reads a text into a value.
package struct JSONValueReader {
    private var scanner: JSONScanner
    private let rules: JSONRules
    /// Whether ``places`` is of interest.
    private let recordsPlaces: Bool
    /// The names and numbers that lead to where the reader is: `section`, `list`, `[0]`.
    private var path: [String] = []
    /// The offset of each member and element by its path, e.g. `section.list[0].name`.
    package private(set) var places: [String: Int] = [:]

    package init(_ text: [UInt8], _ rules: JSONRules, recordsPlaces: Bool = false) {
        scanner = JSONScanner(text, rules)
        self.rules = rules
        self.recordsPlaces = recordsPlaces
    }

    /// Reads the whole text.
    package mutating func document() throws(JSONError) -> JSONValue {
        let value = try value()
        try scanner.expectEnd()
        return value
    }

    private mutating func value() throws(JSONError) -> JSONValue {
        switch scanner.peek() {
        case UInt8(ascii: "{"): .object(try members())
        case UInt8(ascii: "["): .array(try elements())
        case let byte where scanner.isQuote(byte): .string(try scanner.string())
        default: try scanner.word()
        }
    }

    private mutating func members() throws(JSONError) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = []
        var names: Set<String> = []
        var isFirst = true
        try scanner.beginObject()
        while let name = try scanner.nextMember(&isFirst) {
            let start = scanner.nameOffset
            if !rules.permitsRepeatedNames, !names.insert(name).inserted {
                throw scanner.error(
                    "the key \(name) is given twice", .duplicateField, at: start, field: name)
            }
            enter(name, at: start)
            members.append(JSONValue.Member(name: name, value: try value()))
            leave()
        }
        return members
    }

    private mutating func elements() throws(JSONError) -> [JSONValue] {
        var elements: [JSONValue] = []
        var isFirst = true
        try scanner.beginArray()
        while try scanner.nextElement(&isFirst) {
            _ = scanner.peek()
            enter("[\(elements.count)]", at: scanner.offset)
            elements.append(try value())
            leave()
        }
        return elements
    }

    private mutating func enter(_ name: String, at offset: Int) {
        guard recordsPlaces else { return }
        path.append(name)
        places[path.joined(separator: ".").replacing(".[", with: "[")] = offset
    }

    private mutating func leave() {
        if recordsPlaces { path.removeLast() }
    }
}
