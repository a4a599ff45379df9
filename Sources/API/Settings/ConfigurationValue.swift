import Basics
import JSON

/// A value of the configuration with its original type. No member of an object is repeated, and their order means nothing.
enum ConfigurationValue: Sendable, Equatable {
    case null
    case flag(Bool)
    case integer(Int64)
    case number(Double)
    case text(String)
    case list([ConfigurationValue])
    case object([String: ConfigurationValue])

    init(_ json: JSONValue) {
        switch json {
        case .null: self = .null
        case .bool(let flag): self = .flag(flag)
        case .number(let integer): self = .integer(integer)
        case .decimal: self = .number(json.double ?? .infinity)
        case .string(let text): self = .text(text)
        case .array(let elements): self = .list(elements.map(ConfigurationValue.init))
        case .object: self = .object((json.members ?? [:]).mapValues(ConfigurationValue.init))
        }
    }

    /// Reads the text of an environment variable; `nil` if it is not JSON5.
    init?(json5 text: String) {
        guard let value = try? JSONValue(parsing: Array(text.utf8), .json5) else { return nil }
        self.init(value)
    }

    /// Reads a list from an environment variable.
    init(separatedByCommas text: String) {
        self = .list(text.split(separator: ",").map { .text($0.trimmingSpaces()) })
    }

    /// The value on one line for people. Members whose name marks them as secret are replaced by stars, except those that name the
    /// source of a secret; so is a URL's query, which may contain a token.
    var shown: String {
        switch self {
        case .null: "null"
        case .flag(let flag): "\(flag)"
        case .integer(let integer): "\(integer)"
        case .number(let number): "\(number)"
        case .text(let text):
            text.contains("://") && text.contains("?") ? "\(text.prefix { $0 != "?" })?***" : text
        case .list(let elements): elements.isEmpty ? "[]" : elements.map(\.shown).joined(separator: ", ")
        case .object(let members):
            "{"
                + members.sorted { $0.key < $1.key }.map { name, value in
                    "\(name): \(Self.isSecret(name) ? "***" : value.shown)"
                }.joined(separator: ", ") + "}"
        }
    }

    static func isSecret(_ name: String) -> Bool {
        let name = name.lowercased()
        return ["secret", "password", "token", "passphrase"].contains { name.contains($0) }
            && !["_file", "_env"].contains { name.hasSuffix($0) }
    }
}
