import Basics

/// A resource of the gateway that commands show.
package protocol Resource: Sendable {
    /// All its fields, in the order of its message.
    var fields: [ResourceField] { get }
    /// The names of the fields that a list shows.
    static var columns: [String] { get }
    /// The columns that a list omits in a narrow terminal, the least important first.
    static var expendableColumns: [String] { get }
}

/// A field by its name in the `.proto` file, for programs and for people.
package struct ResourceField: Sendable {
    package let name: String
    package let json: JSONValue
    /// The text for people; empty for a field that is not shown.
    package let text: String
    /// The field's name for people, e.g. `size` for `size_bytes` if the text has a unit.
    package let heading: String
    /// The lines that show the field of one resource; in a table it is the text.
    package private(set) var lines: [String]

    package init(name: String, json: JSONValue, text: String, heading: String? = nil) {
        self.name = name
        self.json = json
        self.text = text
        lines = [text]
        self.heading = (heading ?? name).replacing("_", with: " ")
    }

    /// A member of a JSON object.
    init(_ name: String, _ value: JSONValue) {
        let text: String
        switch value {
        case .null: text = ""
        case .string(let string): text = string
        default: text = value.text
        }
        self.init(name: name, json: value, text: text)
    }

    /// Whether the text is a word, such as the name of a numbered state.
    var isWord: Bool { !text.isEmpty && !text.contains(where: \.isNumber) }

    /// A number of bytes, shown to people with a unit.
    package static func size(_ name: String, _ bytes: Int64) -> ResourceField {
        ResourceField(
            name: name, json: .number(bytes), text: ByteCount.text(bytes), heading: name.replacing("_bytes", with: ""))
    }

    /// A time in seconds since 1970, shown to people as local RFC 3339; 0 as an empty text.
    package static func unixTime(_ name: String, _ seconds: Int64) -> ResourceField {
        ResourceField(
            name: name, json: .number(seconds), text: seconds == 0 ? "" : LocalTime.text(UnixTime(seconds: seconds)),
            heading: name.replacing("_at_unix", with: ""))
    }

    /// - Parameter text: the text for people, if it differs.
    package static func text(_ name: String, _ value: String, shownAs text: String? = nil) -> ResourceField {
        ResourceField(name: name, json: .string(value), text: text ?? value)
    }

    /// - Parameter text: the text for people, if it is not the number; by default, 0 is an empty text.
    package static func number(_ name: String, _ value: Int64, shownAs text: String? = nil) -> ResourceField {
        ResourceField(name: name, json: .number(value), text: text ?? (value == 0 ? "" : "\(value)"))
    }

    package static func texts(_ name: String, _ values: [String]) -> ResourceField {
        ResourceField(name: name, json: .array(values.map(JSONValue.string)), text: values.joined(separator: ", "))
    }

    /// The same, with a line for each value where one resource is shown.
    package static func lines(_ name: String, _ values: [String]) -> ResourceField {
        var field = texts(name, values)
        field.lines = values
        return field
    }

    package static func map(_ name: String, _ value: [String: String]) -> ResourceField {
        let sorted = value.sorted { $0.key < $1.key }
        return ResourceField(
            name: name, json: .object(sorted.map { JSONValue.Member(name: $0.key, value: .string($0.value)) }),
            text: sorted.map { "\($0.key)=\($0.value)" }.joined(separator: ", "))
    }
}

extension Resource {
    package static var expendableColumns: [String] { [] }

    package var json: JSONValue {
        .object(fields.map { JSONValue.Member(name: $0.name, value: $0.json) })
    }
}
