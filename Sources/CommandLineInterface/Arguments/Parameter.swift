/// An argument or an option of a command, and the property that it sets.
package struct Parameter<Target> {
    package let label: ParameterLabel
    /// Sets the property from a value; a flag gets an empty one.
    let accept: (inout Target, String) throws(ArgumentProblem) -> Void

    /// A positional argument.
    ///
    /// - Parameter isRequired: optional arguments must follow required ones.
    package static func argument<Value: ArgumentValue>(
        _ placeholder: String, _ property: WritableKeyPath<Target, Value>, _ help: String, isRequired: Bool = true
    ) -> Parameter {
        Parameter(
            label: ParameterLabel(
                kind: .argument, name: placeholder, placeholder: placeholder, help: help, choices: Value.choices,
                isRequired: isRequired)
        ) { (target, text) throws(ArgumentProblem) in
            target[keyPath: property] = try Value(argument: text)
        }
    }

    /// Positional arguments, any number; no other argument follows.
    package static func arguments<Value: ArgumentValue>(
        _ placeholder: String, _ property: WritableKeyPath<Target, [Value]>, _ help: String, isRequired: Bool = true
    ) -> Parameter {
        Parameter(
            label: ParameterLabel(
                kind: .argument, name: placeholder, placeholder: placeholder, help: help, isRequired: isRequired,
                isRepeated: true)
        ) { (target, text) throws(ArgumentProblem) in
            target[keyPath: property].append(try Value(argument: text))
        }
    }

    /// An option `--name VALUE` or `--name=VALUE`, at most once.
    package static func option<Value: ArgumentValue>(
        _ name: String, _ placeholder: String, _ property: WritableKeyPath<Target, Value>, _ help: String,
        isRequired: Bool = false
    ) -> Parameter {
        Parameter(
            label: ParameterLabel(
                kind: .option, name: name, placeholder: placeholder, help: help, choices: Value.choices,
                isRequired: isRequired)
        ) { (target, text) throws(ArgumentProblem) in
            target[keyPath: property] = try Value(argument: text)
        }
    }

    /// An option that may be given any number of times.
    package static func repeated<Value: ArgumentValue>(
        _ name: String, _ placeholder: String, _ property: WritableKeyPath<Target, [Value]>, _ help: String
    ) -> Parameter {
        Parameter(
            label: ParameterLabel(
                kind: .option, name: name, placeholder: placeholder, help: help, choices: Value.choices,
                isRepeated: true)
        ) { (target, text) throws(ArgumentProblem) in
            target[keyPath: property].append(try Value(argument: text))
        }
    }

    /// An option without a value, `--name`.
    package static func flag(_ name: String, _ property: WritableKeyPath<Target, Bool>, _ help: String) -> Parameter {
        Parameter(label: ParameterLabel(kind: .flag, name: name, placeholder: "", help: help)) { target, _ in
            target[keyPath: property] = true
        }
    }

    /// Offers these words in the completion of a shell, for an option whose value is a text.
    package func offering(_ choices: [String]) -> Parameter {
        var label = label
        label.choices = choices
        return Parameter(label: label, accept: accept)
    }

    /// Accepts an empty value, which has a meaning of its own.
    package func allowingEmpty() -> Parameter {
        var label = label
        label.mayBeEmpty = true
        return Parameter(label: label, accept: accept)
    }

    /// Accepts an earlier name as well, for one release; help and messages do not show it.
    package func formerly(_ name: String) -> Parameter {
        var label = label
        label.formerName = name
        return Parameter(label: label, accept: accept)
    }

    /// Returns the same parameter for a type that contains a `Target`.
    package func at<Whole>(_ part: WritableKeyPath<Whole, Target>) -> Parameter<Whole> {
        Parameter<Whole>(label: label) { [accept] (whole, text) throws(ArgumentProblem) in
            try accept(&whole[keyPath: part], text)
        }
    }
}

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
