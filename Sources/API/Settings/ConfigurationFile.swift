import Basics
import JSON

/// The contents of a configuration file in JSON5.
struct ConfigurationFile {
    /// The values by `section.name`.
    private(set) var values: [String: ConfigurationValue] = [:]
    /// The line of each member, by its path: `section.name`, `section.list[0].name`.
    private(set) var lines: [String: Int] = [:]

    init(path: String) throws(ConfigurationError) {
        let bytes: [UInt8]
        do {
            bytes = try PrivateFile.contents(of: path)
        } catch {
            throw ConfigurationError("cannot read the configuration file \(error)")
        }
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw ConfigurationError("\(path) is not valid UTF-8")
        }
        let content: ConfigurationValue
        do throws(JSONError) {
            var reader = JSONValueReader(bytes, .json5, recordsPlaces: true)
            content = ConfigurationValue(try reader.document())
            lines = Self.lines(of: reader.places, in: bytes)
        } catch {
            let position = JSONPosition(of: error.offset, in: bytes)
            throw ConfigurationError("\(path), \(position): \(error.problem ?? "the value is not valid JSON5")")
        }
        guard case .object(let sections) = content else {
            throw ConfigurationError("\(path): the configuration must be one object: { … }")
        }
        for (section, value) in sections {
            // An empty section has no members that would show that it is there.
            if case .object(let members) = value, !members.isEmpty {
                for (name, value) in members { values["\(section).\(name)"] = value }
            } else {
                values[section] = value
            }
        }
    }
    /// Returns the line of each offset, counted from 1.
    private static func lines(of places: [String: Int], in text: [UInt8]) -> [String: Int] {
        var (lines, line, counted): ([String: Int], Int, Int) = ([:], 1, 0)
        for (path, offset) in places.sorted(by: { $0.value < $1.value }) {
            line += text[counted..<offset].count { $0 == 0x0A }
            counted = offset
            lines[path] = line
        }
        return lines
    }
}

/// An error in the configuration: names the key and the rule that it violates.
package struct ConfigurationError: Error, Hashable, CustomStringConvertible {
    package let description: String
    /// The key whose value it is about, e.g. `scrub.interval_seconds`; `nil` = the file as a whole, or keys that do not go
    /// together.
    package let key: String?

    package init(_ description: String, key: String? = nil) {
        self.description = description
        self.key = key
    }
}

/// The names of environment variables for keys: `DATA_GATEWAY_` and the key in capitals, with two underscores for each dot;
/// `rpc.max_handlers` is `DATA_GATEWAY_RPC__MAX_HANDLERS`.
///
/// Two, because names and sections contain single underscores, and so that other variables with the prefix `DATA_GATEWAY_` are not
/// taken for keys: those of the commands, and those that Kubernetes sets for a service named data-gateway.
enum ConfigurationVariable {
    private static let prefix = "DATA_GATEWAY_"

    static func name(of key: String) -> String {
        prefix + key.uppercased().replacing(bytes: [".": "__"])
    }

    /// Returns the key; `nil` if the variable has not the form of a key, known or not.
    static func key(of variable: String) -> String? {
        guard variable.hasPrefix(prefix) else { return nil }
        let rest = variable.dropFirst(prefix.count)
        guard let mark = rest.firstRange(of: "__"), mark.lowerBound > rest.startIndex else { return nil }
        return rest.lowercased().replacing("__", with: ".")
    }
}
