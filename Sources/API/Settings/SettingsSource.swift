import Basics

/// The values of the configuration by key, and what was read of them. The order of precedence is command line, environment, file,
/// default.
final class SettingsSource {
    struct Given {
        var value: ConfigurationValue
        let source: ConfigurationSource
    }

    /// The values that are given, by `section.name`, and by `section.list[0].name` once their list was read.
    var given: [String: Given] = [:]
    /// The settings in the order in which they were read.
    private(set) var settings: [ConfigurationSetting] = []
    /// The first fault of each key, in the order in which they were found.
    private(set) var faults: [ConfigurationError] = []
    /// The lines of the file by key.
    private(set) var lines: [String: Int] = [:]
    /// The places of the members of lists, e.g. `copy.destinations[0]`, and of sections inside them.
    private var members: Set<String> = []
    /// The places that could not be read to their end, whose other keys are not judged.
    private var abandoned: Set<String> = []
    let log: Logger

    init(
        path: String?, variables: [String: String], options: [String: (option: String, value: String)], log: Logger
    ) throws(ConfigurationError) {
        self.log = log
        if let path {
            let file = try ConfigurationFile(path: path)
            given = file.values.mapValues { Given(value: $0, source: .file) }
            lines = file.lines
        }
        for (variable, text) in variables.sorted(by: { $0.key < $1.key }) where !text.isEmpty {
            guard let key = ConfigurationVariable.key(of: variable) else { continue }
            let name = ConfigurationVariable.name(of: key)
            guard variable == name else {
                report(ConfigurationError("the environment variable \(variable) must be named \(name)"))
                continue
            }
            given[key] = Given(value: .text(text), source: .environment(variable))
        }
        for (key, value) in options {
            given[key] = Given(value: .text(value.value), source: .option(value.option))
        }
    }

    // MARK: Values

    /// Returns the value of `key`, which is known from now on; `nil` if it is not set.
    ///
    /// - Parameters:
    ///   - shown: the displayed default, if it differs from the one in the documentation.
    ///   - summary: the displayed value of one whose members are settings of their own.
    ///   - readingText: converts a variable or an option to the key's type; a text that it refuses stays a text.
    func take(
        _ key: String, _ rule: ConfigurationSetting.Rule, shown: String? = nil,
        summary: (ConfigurationValue) -> String? = { _ in nil },
        readingText: (String) -> ConfigurationValue? = { .text($0) }
    ) -> ConfigurationValue? {
        var found = given[key]
        if let value = found, value.source != .file, case .text(let text) = value.value {
            found?.value = readingText(text) ?? value.value
        }
        let value = found?.value
        settings.append(
            ConfigurationSetting(
                key: key, rule: rule,
                value: value.map { summary($0) ?? shownValue($0, of: key) } ?? shown ?? rule.standard,
                source: found?.source ?? .standard))
        return value
    }

    /// Replaces a section by its members.
    ///
    /// - Parameter rule: the message if it is not one.
    func open(_ key: String, or rule: String = "must be a section: { … }") {
        guard let value = given[key] else { return }
        guard case .object(let members) = value.value else {
            report(wrong(key, rule))
            given[key] = nil
            return
        }
        given[key] = nil
        add(members, at: key, from: value.source)
    }

    /// Makes the object at `key`, which is in a list, readable by its members.
    func add(_ members: [String: ConfigurationValue], at key: String, from source: ConfigurationSource) {
        for (member, value) in members where given["\(key).\(member)"] == nil {
            given["\(key).\(member)"] = Given(value: value, source: source)
        }
    }

    /// Notes that a place is in a list.
    func addMember(_ place: String) { members.insert(place) }

    func isMember(_ place: String) -> Bool { members.contains(place) }

    /// In a list, a name can mark a secret that was written where its source belongs.
    private func shownValue(_ value: ConfigurationValue, of key: String) -> String {
        guard case .text = value, let place = member(with: key) else { return value.shown }
        return ConfigurationValue.isSecret(String(key.dropFirst(place.count + 1))) ? "***" : value.shown
    }

    /// The innermost place in a list that a key belongs to; `nil` if it is in none.
    private func member(with key: String) -> String? {
        members.filter { key.hasPrefix("\($0).") }.max { $0.count < $1.count }
    }

    // MARK: Faults

    func report(_ fault: ConfigurationError) {
        guard !faults.contains(where: { $0.key == nil ? $0 == fault : $0.key == fault.key }) else { return }
        faults.append(fault)
    }

    /// Makes the error that the value of `key` violates a rule.
    func wrong(_ key: String, _ rule: String) -> ConfigurationError {
        switch given[key]?.source {
        case .environment(let name), .option(let name): ConfigurationError("\(key) \(rule) (\(name))", key: key)
        case .file, .standard, nil: ConfigurationError("\(key) \(rule)", key: key)
        }
    }

    /// Leaves the keys of a place that were not read unjudged: its fault ended its reading.
    func abandon(_ place: String) { abandoned.insert(place) }

    /// Reports the keys that were not read.
    func reportUnknown() {
        let known = Set(settings.map(\.key))
        for key in given.keys.sorted()
        where !known.contains(key) && !abandoned.contains(where: { key == $0 || key.hasPrefix("\($0).") }) {
            report(unknown(key, among: known))
        }
    }

    private func unknown(_ key: String, among known: Set<String>) -> ConfigurationError {
        if let place = member(with: key) {
            let name = String(key.dropFirst(place.count + 1))
            let names = known.filter { $0.hasPrefix("\(place).") }.map { String($0.dropFirst(place.count + 1)) }
            return ConfigurationError(
                "unknown key \(key)\(Suggestion.text(for: name, among: names.sorted()))", key: key)
        }
        if case .environment(let variable)? = given[key]?.source {
            let names = known.sorted().map(ConfigurationVariable.name)
            return ConfigurationError(
                "unknown environment variable \(variable)\(Suggestion.text(for: variable, among: names))", key: key)
        }
        let sections = known.compactMap { name in name.firstIndex(of: ".").map { String(name[..<$0]) } }
        let names = key.contains(".") ? known : known.union(sections)
        return ConfigurationError("unknown key \(key)\(Suggestion.text(for: key, among: names.sorted()))", key: key)
    }
}
