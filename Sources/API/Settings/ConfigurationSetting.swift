/// The source of a setting's value; each takes precedence over those above it.
package enum ConfigurationSource: Sendable, Hashable, CustomStringConvertible {
    case standard
    case file
    /// The variable with this name.
    case environment(String)
    /// The option with this name.
    case option(String)

    package var description: String {
        switch self {
        case .standard: "default"
        case .file: "file"
        case .environment(let variable): "environment \(variable)"
        case .option(let option): "option \(option)"
        }
    }
}

/// A key of the configuration: its rule, its value, and the value's source.
package struct ConfigurationSetting: Sendable, Hashable {
    /// The valid values of a key, in the words of docs/configuration.md.
    package struct Rule: Sendable, Hashable {
        package var unit: String
        package var standard: String
        package var bounds = ""
    }

    /// The key, `section.name`.
    package let key: String
    package let rule: Rule
    /// The value for display; secrets are left out.
    package let value: String
    package let source: ConfigurationSource
}

extension Int64 {
    /// The number in the documentation's form: `67,108,864`, and powers of two from 2⁴⁰ on as such.
    var grouped: String {
        if self >= 1 << 40, nonzeroBitCount == 1 {
            let digits = Array("⁰¹²³⁴⁵⁶⁷⁸⁹")
            return "2" + String("\(trailingZeroBitCount)".compactMap(\.wholeNumberValue).map { digits[$0] })
        }
        let digits = Array("\(magnitude)")
        let groups = stride(from: digits.count, to: 0, by: -3).map { String(digits[Swift.max(0, $0 - 3)..<$0]) }
        return (self < 0 ? "-" : "") + groups.reversed().joined(separator: ",")
    }
}
