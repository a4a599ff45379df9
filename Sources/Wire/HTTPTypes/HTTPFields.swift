/// Header fields in the order of arrival. Names are in lower case; values are unchanged, except for whitespace around them.
package struct HTTPFields: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    package struct Field: Sendable, Equatable {
        package let name: String
        package let value: String
    }

    package private(set) var fields: [Field] = []

    package init() {}

    package init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements {
            append(name, value)
        }
    }

    package mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: Self.lowered(name), value: value))
    }

    /// Replaces all fields of a name by one.
    package mutating func replace(_ name: String, with value: String) {
        let field = Field(name: Self.lowered(name), value: value)
        fields.removeAll { $0.name == field.name }
        fields.append(field)
    }

    /// Appends a field of another list.
    package mutating func append(_ field: Field) { fields.append(field) }

    /// Only names with upper-case letters need another string.
    private static func lowered(_ name: String) -> String {
        var hasUpper = false
        for byte in name.utf8 {
            // Unicode's case mapping turns some other letters into ASCII, and such a name would pass for another.
            if byte >= 0x80 { return name }
            if byte >= 0x41, byte <= 0x5A { hasUpper = true }
        }
        return hasUpper ? name.lowercased() : name
    }

    /// The first value of a field; `name` is in lower case.
    package subscript(name: String) -> String? {
        place(of: name, from: 0).map { fields[$0].value }
    }

    /// Returns all values of a field; `name` is in lower case.
    package func values(of name: String) -> [String] {
        var values: [String] = []
        var next = place(of: name, from: 0)
        while let index = next {
            values.append(fields[index].value)
            next = place(of: name, from: index + 1)
        }
        return values
    }

    /// Returns the index of the first field with that name. By index: iterators of unoptimized builds allocate for each element, and
    /// a request has dozens of lookups.
    private func place(of name: String, from start: Int) -> Int? {
        var index = start
        while index < fields.count {
            if fields[index].name == name { return index }
            index += 1
        }
        return nil
    }
}
