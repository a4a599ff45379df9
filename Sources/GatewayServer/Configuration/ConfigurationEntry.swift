import Basics

/// One object in a list of the configuration. Its members are read one by one; `finish` refuses members that were not read.
struct ConfigurationEntry {
    /// Its place in the configuration, e.g. `copy.destinations[0]`.
    private let place: String
    private let members: [String: ConfigurationValue]
    private let log: Logger
    private var known: Set<String> = []

    /// - Parameter log: receives the warnings.
    static func list(
        _ value: ConfigurationValue, at key: String, log: Logger
    ) throws(ConfigurationError) -> [ConfigurationEntry] {
        guard case .list(let elements) = value else { throw ConfigurationError("\(key) must be a list of objects") }
        var entries: [ConfigurationEntry] = []
        for (index, element) in elements.enumerated() {
            guard case .object(let members) = element else {
                throw ConfigurationError("\(key)[\(index)] must be an object: { … }")
            }
            entries.append(ConfigurationEntry(place: "\(key)[\(index)]", members: members, log: log))
        }
        return entries
    }

    /// - Parameter log: receives the warnings.
    static func table(
        _ value: ConfigurationValue, at key: String, log: Logger
    ) throws(ConfigurationError) -> [(name: String, entry: ConfigurationEntry)] {
        guard case .object(let members) = value else { throw ConfigurationError("\(key) must be an object: { … }") }
        var entries: [(name: String, entry: ConfigurationEntry)] = []
        for (name, element) in members.sorted(by: { $0.key < $1.key }) {
            guard case .object(let members) = element else {
                throw ConfigurationError("\(key).\(name) must be an object: { … }", key: "\(key).\(name)")
            }
            entries.append((name, ConfigurationEntry(place: "\(key).\(name)", members: members, log: log)))
        }
        return entries
    }

    private init(place: String, members: [String: ConfigurationValue], log: Logger) {
        self.place = place
        self.members = members
        self.log = log
    }

    /// - Parameter standard: `nil` = the member is required and must not be empty.
    mutating func text(_ name: String, default standard: String? = nil) throws(ConfigurationError) -> String {
        known.insert(name)
        guard let value = members[name] else {
            guard let standard else { throw wrong(name, "is missing") }
            return standard
        }
        guard case .text(let text) = value, standard != nil || !text.isEmpty else {
            throw wrong(name, "must be a string\(standard == nil ? " that is not empty" : "")")
        }
        return text
    }

    /// Reads a list of non-empty texts; `nil` if it is absent.
    mutating func texts(_ name: String) throws(ConfigurationError) -> [String]? {
        known.insert(name)
        guard let value = members[name] else { return nil }
        guard case .list(let elements) = value else { throw wrong(name, "must be a list of strings") }
        var texts: [String] = []
        for element in elements {
            guard case .text(let text) = element, !text.isEmpty else { throw wrong(name, "must be a list of strings") }
            texts.append(text)
        }
        return texts
    }

    /// Reads one of a few words, which is required.
    mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, as type: Choice.Type = Choice.self
    ) throws(ConfigurationError) -> Choice {
        guard let choice = Choice(rawValue: try text(name)) else {
            throw wrong(name, "must be one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return choice
    }

    mutating func integer(
        _ name: String, default standard: Int64, in range: ClosedRange<Int64>, unit: String
    ) throws(ConfigurationError) -> Int64 {
        known.insert(name)
        guard let value = members[name] else { return standard }
        guard case .integer(let whole) = value, range.contains(whole) else {
            throw wrong(name, "must be a whole number of \(unit), \(range.lowerBound) to \(range.upperBound)")
        }
        return whole
    }

    /// Reads a Boolean.
    mutating func flag(_ name: String, default standard: Bool) throws(ConfigurationError) -> Bool {
        known.insert(name)
        guard let value = members[name] else { return standard }
        guard case .flag(let flag) = value else { throw wrong(name, "must be true or false") }
        return flag
    }

    /// Reads an object whose members are texts; `nil` if it is absent.
    mutating func map(_ name: String) throws(ConfigurationError) -> [String: String]? {
        known.insert(name)
        guard let value = members[name] else { return nil }
        guard case .object(let members) = value else { throw wrong(name, "must be an object of strings: { … }") }
        var texts: [String: String] = [:]
        for (member, value) in members {
            guard case .text(let text) = value, !text.isEmpty else {
                throw wrong("\(name).\(member)", "must be a string that is not empty")
            }
            texts[member] = text
        }
        return texts
    }

    /// Reads an object, whose members are then read one by one; `nil` if it is absent.
    mutating func section(_ name: String) throws(ConfigurationError) -> ConfigurationEntry? {
        known.insert(name)
        guard let value = members[name] else { return nil }
        guard case .object(let members) = value else { throw wrong(name, "must be an object: { … }") }
        return ConfigurationEntry(place: "\(place).\(name)", members: members, log: log)
    }

    /// Reads a list of objects; empty if it is absent.
    mutating func entries(_ name: String) throws(ConfigurationError) -> [ConfigurationEntry] {
        known.insert(name)
        guard let value = members[name] else { return [] }
        return try Self.list(value, at: "\(place).\(name)", log: log)
    }

    func contains(_ name: String) -> Bool { members[name] != nil }

    mutating func secretSource() throws(ConfigurationError) -> SecretSource {
        try SecretSource(
            of: place, file: try text("secret_file", default: ""), variable: try text("secret_env", default: ""),
            log: log)
    }

    func wrong(_ name: String, _ rule: String) -> ConfigurationError {
        ConfigurationError("\(place).\(name) \(rule)", key: "\(place).\(name)")
    }

    func finish() throws(ConfigurationError) {
        guard let unknown = members.keys.filter({ !known.contains($0) }).min() else { return }
        throw ConfigurationError(
            "unknown key \(place).\(unknown)\(Suggestion.text(for: unknown, among: known.sorted()))",
            key: "\(place).\(unknown)")
    }
}
