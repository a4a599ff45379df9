import Basics
import HTTPTypes

/// An error in the configuration: names the key and the rule that it violates.
package struct ConfigurationError: Error, CustomStringConvertible {
    package let description: String
    /// The key whose value it is about, e.g. `scrub.interval_seconds`; `nil` = the file as a whole, or keys that do not go
    /// together.
    package let key: String?

    package init(_ description: String, key: String? = nil) {
        self.description = description
        self.key = key
    }
}

/// The values of the configuration, read key by key. The order of precedence is command line, environment, file, default.
///
/// A key is known once it was read; `finish` refuses all others, so that a misspelled key is always reported. The keys read are
/// kept in ``settings``, which is the source of `config show` and is compared with the documentation.
struct ConfigurationReader {
    private struct Given {
        var value: ConfigurationValue
        let source: ConfigurationSource
    }

    /// The settings in the order in which they were read.
    private(set) var settings: [ConfigurationSetting] = []
    private var given: [String: Given] = [:]
    /// Keys that are taken for not given: what is wrong with them was reported before.
    private let ignored: Set<String>
    private let log: Logger

    /// - Parameters:
    ///   - path: the file; `nil` = none.
    ///   - variables: the environment; empty variables are ignored.
    ///   - options: the options of the command line, by key.
    ///   - ignored: keys that count as not set.
    ///   - log: receives the warnings.
    init(
        path: String? = nil, variables: [String: String] = [:],
        options: [String: (option: String, value: String)] = [:], ignoring ignored: Set<String> = [],
        log: Logger = .discarding
    ) throws(ConfigurationError) {
        self.log = log
        self.ignored = ignored
        if let path {
            given = try ConfigurationFile(path: path).values.mapValues { Given(value: $0, source: .file) }
        }
        for (variable, text) in variables where !text.isEmpty {
            guard let key = ConfigurationVariable.key(of: variable) else { continue }
            guard variable == ConfigurationVariable.name(of: key) else {
                throw ConfigurationError(
                    "the environment variable \(variable) must be named \(ConfigurationVariable.name(of: key))")
            }
            given[key] = Given(value: .text(text), source: .environment(variable))
        }
        for (key, said) in options {
            given[key] = Given(value: .text(said.value), source: .option(said.option))
        }
    }

    // MARK: Reading

    /// - Parameter key: `section.name`.
    mutating func integer(
        _ key: String, default standard: Int64, in range: ClosedRange<Int64>, unit: String
    ) throws(ConfigurationError) -> Int64 {
        let rule = ConfigurationSetting.Rule(
            unit: unit, standard: standard.grouped,
            bounds: "\(range.lowerBound.grouped) – \(range.upperBound.grouped)")
        let said = take(key, rule, shown: "\(standard)", readingText: { Int64($0).map(ConfigurationValue.integer) })
        guard let value = said else { return standard }
        guard case .integer(let whole) = value, range.contains(whole) else {
            throw wrong(key, "must be a whole number of \(unit), \(range.lowerBound) to \(range.upperBound)")
        }
        return whole
    }

    /// - Parameters:
    ///   - unit: the kind of text, and `bounds`: the valid values, both for the documentation.
    mutating func text(
        _ key: String, default standard: String, unit: String = "text", bounds: String = ""
    ) throws(ConfigurationError) -> String {
        let rule = ConfigurationSetting.Rule(
            unit: unit, standard: standard.isEmpty ? "none" : standard, bounds: bounds)
        guard let value = take(key, rule) else { return standard }
        guard case .text(let text) = value else { throw wrong(key, "must be a string") }
        return text
    }

    /// Reads one of a few words.
    mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ key: String, default standard: Choice
    ) throws(ConfigurationError) -> Choice {
        let words = Choice.allCases.map(\.rawValue)
        let rule = ConfigurationSetting.Rule(
            unit: "word", standard: standard.rawValue, bounds: words.joined(separator: ", "))
        guard let value = take(key, rule) else { return standard }
        guard case .text(let text) = value, let choice = Choice(rawValue: text) else {
            let said = if case .text(let text) = value { ", not \(text)" } else { "" }
            throw wrong(key, "must be \(words.dropLast().joined(separator: ", ")) or \(words.last ?? "")\(said)")
        }
        return choice
    }

    mutating func flag(_ key: String, default standard: Bool) throws(ConfigurationError) -> Bool {
        try flag(key, standard: "\(standard)") ?? standard
    }

    /// Reads a Boolean; `nil` if it is not set.
    ///
    /// - Parameter standard: the default behavior, for the documentation.
    mutating func flag(_ key: String, standard: String) throws(ConfigurationError) -> Bool? {
        let rule = ConfigurationSetting.Rule(unit: "true/false", standard: standard)
        guard let value = take(key, rule, readingText: { Bool($0).map(ConfigurationValue.flag) }) else { return nil }
        guard case .flag(let flag) = value else { throw wrong(key, "must be true or false") }
        return flag
    }

    /// Reads a list; `nil` if it is not set.
    ///
    /// - Parameters:
    ///   - standard: the default, and `bounds`: the valid elements, both for the documentation.
    mutating func list(
        _ key: String, standard: String = "none", bounds: String = ""
    ) throws(ConfigurationError) -> [String]? {
        try list(key, ConfigurationSetting.Rule(unit: "list", standard: standard, bounds: bounds), of: "texts")
    }

    /// Reads a list of address blocks; empty if it is not set.
    mutating func addressRanges(_ key: String, standard: String = "none") throws(ConfigurationError) -> [AddressRange] {
        let rule = ConfigurationSetting.Rule(
            unit: "list", standard: standard, bounds: "addresses, `192.0.2.0/24`, `2001:db8::/32`")
        var ranges: [AddressRange] = []
        for text in try list(key, rule, of: "addresses and blocks like 192.0.2.0/24") ?? [] {
            guard let range = AddressRange(text) else {
                throw wrong(key, "must hold addresses and blocks like 192.0.2.0/24, without bits set after the prefix")
            }
            ranges.append(range)
        }
        return ranges
    }

    /// - Parameter elements: the kind of elements.
    private mutating func list(
        _ key: String, _ rule: ConfigurationSetting.Rule, of elements: String
    ) throws(ConfigurationError) -> [String]? {
        guard let value = take(key, rule, readingText: ConfigurationValue.init(separatedByCommas:)) else { return nil }
        guard case .list(let items) = value else { throw wrong(key, "must be a list of \(elements)") }
        var texts: [String] = []
        for item in items {
            guard case .text(let text) = item else { throw wrong(key, "must hold \(elements)") }
            texts.append(text)
        }
        return texts
    }

    /// Returns the sorted names in a section whose members are sections of their own, which are then read as `section.NAME.key`.
    /// Names in the file may have dots.
    mutating func names(in section: String) throws(ConfigurationError) -> [String] {
        var names: Set<String> = []
        if let said = given[section] { try open(section, said) }
        let members = given.filter { $0.key.hasPrefix("\(section).") }
        for (key, said) in members {
            // A variable sets a member; the file contains the section around it.
            guard case .object = said.value else { continue }
            names.insert(String(key.dropFirst(section.count + 1)))
            try open(key, said)
        }
        for (key, said) in members {
            if case .object = said.value { continue }
            let rest = key.dropFirst(section.count + 1)
            let isInFile = rest.indices.contains { rest[$0] == "." && names.contains(String(rest[..<$0])) }
            guard !isInFile else { continue }
            let name = rest.prefix { $0 != "." }
            if name == rest { try open(key, said) }
            names.insert(String(name))
        }
        return names.sorted()
    }

    /// Makes the members of a section inside a section readable, as `section.inner.key`; does nothing if it is not set.
    mutating func open(_ key: String) throws(ConfigurationError) {
        if !ignored.contains(key), let said = given[key] { try open(key, said) }
    }

    /// Makes the members of all sections readable that contain any of these keys.
    mutating func openSections(of keys: [String]) {
        func isSection(_ key: String, _ said: Given) -> Bool {
            guard case .object(let members) = said.value else { return false }
            return !members.isEmpty && keys.contains { $0.hasPrefix("\(key).") }
        }
        while let key = given.first(where: { isSection($0.key, $0.value) })?.key { try? open(key) }
    }

    /// Replaces a section by its members.
    private mutating func open(_ key: String, _ said: Given) throws(ConfigurationError) {
        guard case .object(let members) = said.value else { throw wrong(key, "must be a section: { … }") }
        given[key] = nil
        for (member, value) in members where given["\(key).\(member)"] == nil {
            given["\(key).\(member)"] = Given(value: value, source: said.source)
        }
    }

    /// Reads a list of objects, whose members are then read one by one; empty if it is not set. A variable contains it as JSON5.
    mutating func entries(_ key: String) throws(ConfigurationError) -> [ConfigurationEntry] {
        let rule = ConfigurationSetting.Rule(unit: "list of objects", standard: "none")
        guard let value = take(key, rule, readingText: ConfigurationValue.init(json5:)) else { return [] }
        return try ConfigurationEntry.list(value, at: key, log: log)
    }

    /// Reads an object of named objects, whose members are then read one by one, sorted by name; empty if it is not set. A variable
    /// contains it as JSON5.
    mutating func table(_ key: String) throws(ConfigurationError) -> [(name: String, entry: ConfigurationEntry)] {
        let rule = ConfigurationSetting.Rule(unit: "object of objects", standard: "none")
        guard let value = take(key, rule, readingText: ConfigurationValue.init(json5:)) else { return [] }
        return try ConfigurationEntry.table(value, at: key, log: log)
    }

    mutating func secretSource(of section: String) throws(ConfigurationError) -> SecretSource {
        try secretSource(
            of: section, file: try text("\(section).secret_file", default: ""),
            variable: try text("\(section).secret_env", default: ""))
    }

    /// Returns the source of a secret whose keys were read before.
    ///
    /// - Parameters: empty = not given.
    func secretSource(
        of section: String, file: String, variable: String
    ) throws(ConfigurationError) -> SecretSource {
        try SecretSource(of: section, file: file, variable: variable, log: log)
    }

    // MARK: Values

    /// Returns the value of `key`, which is known from now on; `nil` if it is not set.
    ///
    /// - Parameters:
    ///   - shown: the displayed default, if it differs from the one in the documentation.
    ///   - readingText: converts a variable or an option to the key's type; a text that it refuses stays a text.
    private mutating func take(
        _ key: String, _ rule: ConfigurationSetting.Rule, shown: String? = nil,
        readingText: (String) -> ConfigurationValue? = { .text($0) }
    ) -> ConfigurationValue? {
        var answer = ignored.contains(key) ? nil : given[key]
        if let said = answer, said.source != .file, case .text(let text) = said.value {
            answer?.value = readingText(text) ?? said.value
        }
        settings.append(
            ConfigurationSetting(
                key: key, rule: rule, value: answer?.value.shown ?? shown ?? rule.standard,
                source: answer?.source ?? .standard))
        return answer?.value
    }

    func contains(_ key: String) -> Bool { given[key] != nil }

    /// Makes the error that the value of `key` violates a rule.
    func wrong(_ key: String, _ rule: String) -> ConfigurationError {
        switch given[key]?.source {
        case .environment(let name), .option(let name): ConfigurationError("\(key) \(rule) (\(name))", key: key)
        case .file, .standard, nil: ConfigurationError("\(key) \(rule)", key: key)
        }
    }

    /// Refuses keys that were not read.
    func finish() throws(ConfigurationError) {
        if let unknown = unknown(among: settings.map(\.key)).first { throw unknown }
    }

    /// Returns an error for each key that is given and not known.
    ///
    /// - Parameter sections: the sections whose members are not judged.
    func unknown(among known: [String], except sections: [String] = []) -> [ConfigurationError] {
        let known = known.sorted()
        return given.keys.sorted().filter { key in
            !known.contains(key) && !ignored.contains(key) && !isEmptySection(key, known)
                && !sections.contains { key == $0 || key.hasPrefix("\($0).") }
        }.map { unknown($0, among: known) }
    }

    private func isEmptySection(_ key: String, _ known: [String]) -> Bool {
        guard case .object(let members)? = given[key]?.value, members.isEmpty else { return false }
        return known.contains { $0.hasPrefix("\(key).") }
    }

    private func unknown(_ key: String, among known: [String]) -> ConfigurationError {
        if case .environment(let variable)? = given[key]?.source {
            let names = known.map(ConfigurationVariable.name)
            return ConfigurationError(
                "unknown environment variable \(variable)\(Suggestion.text(for: variable, among: names))", key: key)
        }
        if known.contains(where: { $0.hasPrefix("\(key).") }) {
            return ConfigurationError("\(key) must be a section: { … }", key: key)
        }
        let sections = known.compactMap { name in name.firstIndex(of: ".").map { String(name[..<$0]) } }
        let names = key.contains(".") ? known : known + Set(sections)
        return ConfigurationError("unknown key \(key)\(Suggestion.text(for: key, among: names))", key: key)
    }
}
