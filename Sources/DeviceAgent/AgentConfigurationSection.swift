import Basics
import JSON

/// The members of one object, read by name; members that are never read are errors.
struct AgentConfigurationSection {
    private let members: [String: JSONValue]
    private let prefix: String
    private var known: Set<String> = []
    private var faults: [String] = []

    init(_ members: [String: JSONValue], at place: String) {
        self.members = members
        prefix = place.isEmpty ? "" : "\(place)."
    }

    func place(_ key: String) -> String { prefix + key }

    private mutating func value<Value>(_ key: String, _ rule: String, _ read: (JSONValue) -> Value?) -> Value? {
        known.insert(key)
        guard let given = members[key] else { return nil }
        if let value = read(given) { return value }
        faults.append("\(place(key)) \(rule)")
        return nil
    }

    mutating func text(_ key: String) -> String? {
        value(key, "must be a string that is not empty") {
            if case .string(let text) = $0, !text.isEmpty { text } else { nil }
        }
    }

    mutating func flag(_ key: String) -> Bool? {
        value(key, "must be true or false") { if case .bool(let flag) = $0 { flag } else { nil } }
    }

    mutating func list(_ key: String) -> [JSONValue] {
        value(key, "must be a list: [ … ]") { $0.elements } ?? []
    }

    mutating func object(_ key: String) -> [String: JSONValue] {
        value(key, "must be an object: { … }") { $0.members } ?? [:]
    }

    mutating func integer(_ key: String, _ range: ClosedRange<Int64>) -> Int64? {
        value(key, "must be a whole number, \(range.lowerBound) to \(range.upperBound)") { given in
            if let number = given.integer, range.contains(number) { number } else { nil }
        }
    }

    /// Returns a number of bytes, written as a number or as a text with a unit.
    mutating func bytes(_ key: String) -> Int64? {
        value(key, "must be a number of bytes such as 1048576 or \"5GiB\"") { $0.bytes }
    }

    /// Returns bytes per second; `"unlimited"` means no limit.
    mutating func rate(_ key: String) -> Int64? {
        let rule = "must be a number of bytes a second such as \"500KB\", 0 to send nothing, or \"unlimited\""
        let value: Int64? = value(key, rule) { given in
            if case .string("unlimited") = given { -1 } else { given.bytes }
        }
        return value == -1 ? nil : value
    }

    func finish() -> [String] {
        faults
            + members.keys.filter { !known.contains($0) }.sorted().map { key in
                "unknown key \(place(key))\(Suggestion.text(for: key, among: known.sorted()))"
            }
    }
}

extension JSONValue {
    /// The value as a number of bytes, written as a number or as a text with a unit.
    fileprivate var bytes: Int64? {
        if let integer { return integer >= 0 && integer < .max ? integer : nil }
        return stringValue.flatMap { ByteQuantity.bytes($0) }
    }
}
