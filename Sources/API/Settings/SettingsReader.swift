package import Basics
import HTTPTypes

/// Reads the keys of the configuration: those of a section, or of a member of a list. Names are relative to its place; in the
/// section `copy`, `workers` is the key `copy.workers`.
///
/// A value that breaks its rule is reported and read as if it were not set, so that one reading finds every fault. A key is known
/// once it was read, and all others are refused as misspelled; so every key has to be read, whatever the other ones say. The keys
/// read are the source of `config show`, and are compared with the documentation.
package struct SettingsReader {
    let source: SettingsSource
    /// The section or the member, e.g. `copy.destinations[0]`; empty = the whole configuration.
    package let place: String

    init(_ source: SettingsSource, at place: String) {
        self.source = source
        self.place = place
    }

    /// - Parameters:
    ///   - path: the file; `nil` = none.
    ///   - variables: the environment; empty variables are ignored.
    ///   - options: the options of the command line, by key.
    ///   - log: receives the warnings.
    package init(
        path: String? = nil, variables: [String: String] = [:],
        options: [String: (option: String, value: String)] = [:], log: Logger = .discarding
    ) throws(ConfigurationError) {
        self.init(try SettingsSource(path: path, variables: variables, options: options, log: log), at: "")
    }

    /// The full name of a key.
    package func key(_ name: String) -> String { place.isEmpty ? name : "\(place).\(name)" }

    // MARK: Results

    /// The keys in the order in which they were read.
    package var settings: [ConfigurationSetting] { source.settings }

    /// The faults in the order in which they were found; at most one for each key.
    package var faults: [ConfigurationError] { source.faults }

    /// The line of a key in the file, from 1, or of what the key is in; `nil` = it is not in the file.
    package func line(of key: String) -> Int? {
        var place = key[...]
        while true {
            if let line = source.lines[String(place)] { return line }
            guard let end = place.lastIndex(where: { $0 == "." || $0 == "[" }) else { return nil }
            place = place[..<end]
        }
    }

    /// Reports all keys that were not read.
    package func finish() { source.reportUnknown() }

    /// Whether the key is set.
    package func contains(_ name: String) -> Bool { source.given[key(name)] != nil }

    // MARK: Faults

    /// Reports that the value of a key violates a rule.
    ///
    /// - Parameter rule: the words after the key, e.g. `must be unique`.
    package func reject(_ name: String, _ rule: String) { source.report(source.wrong(key(name), rule)) }

    /// Reports a fault in words of its own.
    package func report(_ fault: ConfigurationError) { source.report(fault) }

    // MARK: Values

    /// Reads a whole number.
    package func integer<Value: FixedWidthInteger>(
        _ name: String, default standard: Value, in range: ClosedRange<Int64>, unit: String
    ) -> Value {
        let standardText = Int64(clamping: standard)
        let rule = ConfigurationSetting.Rule(
            unit: unit, standard: standardText.grouped,
            bounds: "\(range.lowerBound.grouped) – \(range.upperBound.grouped)")
        let value = source.take(
            key(name), rule, shown: "\(standard)", readingText: { Int64($0).map(ConfigurationValue.integer) })
        guard let value else { return standard }
        guard case .integer(let whole) = value, range.contains(whole) else {
            reject(name, "must be a whole number of \(unit), \(range.lowerBound) to \(range.upperBound)")
            return standard
        }
        return Value(clamping: whole)
    }

    /// Reads a text.
    ///
    /// - Parameters:
    ///   - unit: the kind of text, and `bounds`: the valid values, both for the documentation.
    package func text(
        _ name: String, default standard: String, unit: String = "text", bounds: String = ""
    ) -> String {
        let rule = ConfigurationSetting.Rule(
            unit: unit, standard: standard.isEmpty ? "none" : standard, bounds: bounds)
        guard let value = source.take(key(name), rule) else { return standard }
        guard case .text(let text) = value else {
            reject(name, "must be a string")
            return standard
        }
        return text
    }

    /// Reads a text that is required and must not be empty; `nil` after a fault.
    package func text(_ name: String, unit: String = "text", bounds: String = "") -> String? {
        guard
            let value = source.take(
                key(name), ConfigurationSetting.Rule(unit: unit, standard: "required", bounds: bounds))
        else {
            reject(name, "is missing")
            return nil
        }
        guard case .text(let text) = value, !text.isEmpty else {
            reject(name, "must be a string that is not empty")
            return nil
        }
        return text
    }

    /// Reads one of a few words.
    package func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, default standard: Choice
    ) -> Choice {
        let words = Choice.allCases.map(\.rawValue)
        let rule = ConfigurationSetting.Rule(
            unit: "word", standard: standard.rawValue, bounds: words.joined(separator: ", "))
        guard let value = source.take(key(name), rule) else { return standard }
        guard case .text(let text) = value, let choice = Choice(rawValue: text) else {
            let suffix = if case .text(let text) = value { ", not \(text)" } else { "" }
            reject(name, "must be \(words.dropLast().joined(separator: ", ")) or \(words.last ?? "")\(suffix)")
            return standard
        }
        return choice
    }

    /// Reads one of a few words, which is required; `nil` after a fault.
    package func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, as type: Choice.Type = Choice.self
    ) -> Choice? {
        let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        guard let text = text(name, unit: "word", bounds: words) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            reject(name, "must be one of \(words)")
            return nil
        }
        return choice
    }

    /// Reads a Boolean.
    package func flag(_ name: String, default standard: Bool) -> Bool {
        flag(name, standard: "\(standard)") ?? standard
    }

    /// Reads a Boolean; `nil` if it is not set.
    ///
    /// - Parameter standard: the default behavior, for the documentation.
    package func flag(_ name: String, standard: String) -> Bool? {
        let rule = ConfigurationSetting.Rule(unit: "true/false", standard: standard)
        let value = source.take(key(name), rule, readingText: { Bool($0).map(ConfigurationValue.flag) })
        guard let value else { return nil }
        guard case .flag(let flag) = value else {
            reject(name, "must be true or false")
            return nil
        }
        return flag
    }
}
