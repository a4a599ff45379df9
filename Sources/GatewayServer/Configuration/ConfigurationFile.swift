import Basics

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
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ConfigurationError("\(path) is not valid UTF-8")
        }
        let content: ConfigurationValue
        do {
            (content, lines) = try JSON5Reader.document(of: text)
        } catch {
            throw ConfigurationError("\(path), \(error)")
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
}
