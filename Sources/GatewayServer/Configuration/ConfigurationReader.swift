import Foundation
import RPC

/// What is wrong with the configuration: names the key, and the rule it breaks.
struct ConfigurationError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// A configuration file (JSON5: JSON with comments, trailing commas and unquoted keys), asked key by key.
///
/// Each key that was asked for is known; `finish` refuses the others, so that a misspelt key never goes unseen.
struct ConfigurationReader {
    private var values: [String: ConfigurationValue] = [:]
    private var known: Set<String> = []

    /// - Parameter path: `nil` = an empty configuration.
    init(path: String?) throws(ConfigurationError) {
        guard let path else { return }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ConfigurationError("cannot read the configuration file \(path)")
        }
        do throws(ConfigurationError) {
            try take(json5: data)
        } catch {
            throw ConfigurationError("\(path): \(error)")
        }
    }

    init(json5 data: Data) throws(ConfigurationError) {
        try take(json5: data)
    }

    private mutating func take(json5 data: Data) throws(ConfigurationError) {
        let tree: ConfigurationValue
        do {
            let decoder = JSONDecoder()
            decoder.allowsJSON5 = true
            tree = try decoder.decode(ConfigurationValue.self, from: data)
        } catch {
            throw ConfigurationError("not readable as JSON5: \(Self.reason(error))")
        }
        guard case .object(let sections) = tree else { throw ConfigurationError("must be one object: { … }") }
        for (section, value) in sections {
            if case .object(let members) = value {
                for (name, value) in members { values["\(section).\(name)"] = value }
            } else {
                values[section] = value
            }
        }
    }

    private static func reason(_ error: any Error) -> String {
        guard case DecodingError.dataCorrupted(let context) = error else { return "\(error)" }
        let underlying = (context.underlyingError as NSError?)?.userInfo[NSDebugDescriptionErrorKey] as? String
        return underlying ?? context.debugDescription
    }

    /// - Parameter key: `section.name`.
    mutating func integer(
        _ key: String, default standard: Int64, in range: ClosedRange<Int64>, unit: String
    ) throws(ConfigurationError) -> Int64 {
        known.insert(key)
        guard let value = values[key] else { return standard }
        guard case .integer(let whole) = value, range.contains(whole) else {
            throw ConfigurationError(
                "\(key) must be a whole number of \(unit), \(range.lowerBound) to \(range.upperBound)")
        }
        return whole
    }

    mutating func text(_ key: String, default standard: String) throws(ConfigurationError) -> String {
        known.insert(key)
        guard let value = values[key] else { return standard }
        guard case .text(let text) = value else { throw ConfigurationError("\(key) must be a text") }
        return text
    }

    /// A list of address blocks; empty where the key is not there.
    mutating func addressRanges(_ key: String) throws(ConfigurationError) -> [AddressRange] {
        known.insert(key)
        guard let value = values[key] else { return [] }
        guard case .list(let elements) = value else { throw ConfigurationError("\(key) must be a list of addresses") }
        var ranges: [AddressRange] = []
        for element in elements {
            guard case .text(let text) = element, let range = AddressRange(text) else {
                throw ConfigurationError(
                    "\(key) must hold addresses and blocks like 192.0.2.0/24, with no bit set behind the prefix")
            }
            ranges.append(range)
        }
        return ranges
    }

    /// `nil` where the key is not there.
    mutating func flag(_ key: String) throws(ConfigurationError) -> Bool? {
        known.insert(key)
        guard let value = values[key] else { return nil }
        guard case .flag(let flag) = value else { throw ConfigurationError("\(key) must be true or false") }
        return flag
    }

    /// `nil` where the key is not there.
    mutating func list(_ key: String) throws(ConfigurationError) -> [String]? {
        known.insert(key)
        guard let value = values[key] else { return nil }
        guard case .list(let items) = value else { throw ConfigurationError("\(key) must be a list of texts") }
        var texts: [String] = []
        for item in items {
            guard case .text(let text) = item else { throw ConfigurationError("\(key) must be a list of texts") }
            texts.append(text)
        }
        return texts
    }

    func contains(_ key: String) -> Bool { values[key] != nil }

    /// Refuses what nobody asked for.
    func finish() throws(ConfigurationError) {
        guard let unknown = values.keys.filter({ !known.contains($0) }).min() else { return }
        if known.contains(where: { $0.hasPrefix("\(unknown).") }) {
            throw ConfigurationError("\(unknown) is a section: { … }")
        }
        throw ConfigurationError("there is no key \(unknown)\(Suggestion.text(for: unknown, among: known.sorted()))")
    }
}
