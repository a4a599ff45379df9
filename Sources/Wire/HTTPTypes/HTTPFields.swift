/// Header fields in the order in which they came. Names are lower-case; a value is kept as it was sent, without the
/// blanks around it.
public struct HTTPFields: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    public struct Field: Sendable, Equatable {
        public let name: String
        public let value: String
    }

    public private(set) var fields: [Field] = []

    public init() {}

    public init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements {
            append(name, value)
        }
    }

    public mutating func append(_ name: String, _ value: String) {
        // Not by Unicode's rules: they make ASCII of letters that are none, and a name would pass for another.
        let isASCII = name.utf8.allSatisfy { $0 < 0x80 }
        fields.append(Field(name: isASCII ? name.lowercased() : name, value: value))
    }

    /// The first value of a field; `name` in lower case.
    public subscript(name: String) -> String? {
        fields.first { $0.name == name }?.value
    }

    /// Every value of a field; `name` in lower case.
    public func values(of name: String) -> [String] {
        fields.compactMap { $0.name == name ? $0.value : nil }
    }
}
