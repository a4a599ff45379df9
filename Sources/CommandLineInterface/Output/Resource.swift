package import Basics
import FoundationEssentials
import Glibc
package import JSON
package import Proto

/// A resource of the gateway that commands show.
package protocol Resource: Sendable {
    /// All its fields, in the order of its message.
    var fields: [ResourceField] { get }
    /// The names of the fields that a list shows.
    static var columns: [String] { get }
    /// The columns that a list omits in a narrow terminal, the least important first.
    static var expendableColumns: [String] { get }
    /// The column that a list keeps in any terminal, because the next command needs it; `nil` = the first one.
    static var essentialColumn: String? { get }
}

/// A field by its name in the `.proto` file, for programs and for people.
package struct ResourceField: Sendable {
    package let name: String
    package private(set) var json: JSONValue
    /// The text for people; empty for a field that is not shown.
    package let text: String
    /// The field's name for people, e.g. `size` for `size_bytes` if the text has a unit.
    package let heading: String
    /// The lines that show the field of one resource; in a table it is the text.
    package private(set) var lines: [String]
    /// The member of JSON that an earlier release had for this field, and which stays for one release.
    package private(set) var former: JSONValue.Member?

    package init(name: String, json: JSONValue, text: String, heading: String? = nil) {
        self.name = name
        self.json = json
        self.text = text
        lines = [text]
        self.heading = (heading ?? name).replacing(bytes: ["_": " "])
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

    /// The members of JSON with the field's value.
    package var members: [JSONValue.Member] {
        [JSONValue.Member(name: name, value: json)] + (former.map { [$0] } ?? [])
    }

    /// Returns the field with the given name, which may be a former one.
    package func named(_ name: String) -> ResourceField? {
        if self.name == name { return self }
        guard let former, former.name == name else { return nil }
        return ResourceField(name: name, json: former.value, text: text, heading: heading)
    }

    /// Returns the field with another value for programs.
    package func with(json: JSONValue) -> ResourceField {
        var field = self
        field.json = json
        return field
    }

    /// Adds the member of JSON that an earlier release had for this field, for one release.
    package func formerly(_ name: String, _ value: JSONValue) -> ResourceField {
        var field = self
        field.former = JSONValue.Member(name: name, value: value)
        return field
    }

    /// A time in seconds since 1970: RFC 3339 for programs in UTC and for people local, `null` and an empty text for 0. JSON also
    /// has the seconds, under the name that earlier releases gave it: `created_at_unix` beside `created_at`.
    package static func unixTime(_ name: String, _ seconds: Int64?) -> ResourceField {
        let time = seconds.flatMap { $0 == 0 ? nil : UnixTime(seconds: $0) }
        return ResourceField(
            name: name, json: time.map { .string(RFC3339.text($0)) } ?? .null, text: time.map(LocalTime.text) ?? "",
            heading: name.hasSuffix("_at") ? String(name.dropLast(3)) : name
        )
        .formerly(name + "_unix", seconds.map { .number($0) } ?? .null)
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
    package static var essentialColumn: String? { nil }

    package var json: JSONValue {
        .object(fields.flatMap(\.members))
    }
}

extension ResourceField {
    /// A time as RFC 3339, for programs in UTC and for people local; `null` if it is not known.
    package static func time(_ name: String, _ value: Timestamp?) -> ResourceField {
        guard let value else { return ResourceField(name: name, json: .null, text: "") }
        return ResourceField(name: name, json: .string(value.rfc3339()), text: value.localText)
    }
}

extension Timestamp {
    /// The time to the second, for people.
    fileprivate var localText: String {
        let isOrdinary = (-12_219_292_800...253_402_300_799).contains(seconds)
        return isOrdinary ? LocalTime.text(UnixTime(seconds: seconds)) : rfc3339(withFraction: false)
    }

    /// Returns e.g. `2026-11-21T14:57:10.25Z`; a fraction has no trailing zeros.
    ///
    /// Times before the Gregorian calendar's first day, 1582-10-15, and after the year 9999 are replaced by the nearest one in that
    /// range.
    func rfc3339(withFraction: Bool = true) -> String {
        let whole = min(max(seconds, -12_219_292_800), 253_402_300_799)
        let date = Date(timeIntervalSince1970: TimeInterval(whole)).formatted(.iso8601)
        guard withFraction, (1..<1_000_000_000).contains(nanos) else { return date }
        var digits = String(String(1_000_000_000 + Int64(nanos)).dropFirst())
        while digits.hasSuffix("0") { digits.removeLast() }
        return "\(date.dropLast()).\(digits)Z"
    }
}

/// Times for people: RFC 3339 in the time zone of this machine, e.g. `2026-01-31T16:00:00+08:00`; in UTC with a `Z`.
package enum LocalTime {
    package static func text(_ time: UnixTime) -> String {
        var seconds = time_t(time.seconds)
        var local = tm()
        guard localtime_r(&seconds, &local) != nil else { return RFC3339.text(time) }
        return text(time, offset: Int64(local.tm_gmtoff))
    }

    /// - Parameter offset: seconds east of UTC.
    static func text(_ time: UnixTime, offset: Int64) -> String {
        let minutes = offset / 60
        guard minutes != 0 else { return RFC3339.text(time) }
        let civil = RFC3339.text(time.adding(seconds: minutes * 60)).dropLast()
        let (hours, rest) = minutes.magnitude.quotientAndRemainder(dividingBy: 60)
        return "\(civil)\(minutes < 0 ? "-" : "+")\(hours.padded(to: 2)):\(rest.padded(to: 2))"
    }
}
