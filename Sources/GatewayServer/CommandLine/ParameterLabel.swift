/// What people see of a parameter.
struct ParameterLabel: Sendable {
    enum Kind: Sendable {
        case argument
        case option
        case flag
    }

    let kind: Kind
    /// `--site`, or the placeholder of an argument.
    let name: String
    /// An earlier name, which is accepted and not shown.
    var formerName: String?
    /// What stands for the value, e.g. `SITE_ID`; empty for a flag.
    let placeholder: String
    let help: String
    var isRequired = false
    var isRepeated = false

    /// The spelling on a command line, e.g. `--site SITE_ID`.
    var spelling: String {
        kind == .option ? "\(name) \(placeholder)" : name
    }
}
