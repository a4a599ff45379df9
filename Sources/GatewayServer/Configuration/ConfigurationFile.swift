import Foundation

/// The contents of a configuration file in JSON5.
struct ConfigurationFile {
    /// The values by `section.name`.
    private(set) var values: [String: ConfigurationValue] = [:]

    init(path: String) throws(ConfigurationError) {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ConfigurationError("cannot read the configuration file \(path)")
        }
        guard let text = String(data: data, encoding: .utf8) else {
            throw ConfigurationError("\(path) is not valid UTF-8")
        }
        let content: ConfigurationValue
        do {
            content = try JSON5Reader.value(of: text)
        } catch {
            throw ConfigurationError("\(path), \(error)")
        }
        guard case .object(let sections) = content else {
            throw ConfigurationError("\(path): the configuration must be one object: { … }")
        }
        for (section, value) in sections {
            if case .object(let members) = value {
                for (name, value) in members { values["\(section).\(name)"] = value }
            } else {
                values[section] = value
            }
        }
    }
}
