/// The name and help of a parameter.
package struct ParameterLabel: Sendable {
    package enum Kind: Sendable {
        case argument
        case option
        case flag
    }

    package let kind: Kind
    /// The name, e.g. `--site`, or the placeholder of an argument.
    package let name: String
    /// An earlier name, which is accepted and not shown.
    var formerName: String?
    /// The placeholder of the value, e.g. `SITE_ID`; empty for a flag.
    let placeholder: String
    package let help: String
    /// The possible words of the value, for the completion in a shell; empty if any text may be valid.
    var choices: [String] = []
    var isRequired = false
    var isRepeated = false
    /// Whether the value may be empty. Elsewhere an empty one is a mistake, such as of an unset variable of a script.
    var mayBeEmpty = false

    /// The spelling on a command line, e.g. `--site SITE_ID`.
    var spelling: String {
        kind == .option ? "\(name) \(placeholder)" : name
    }
}
