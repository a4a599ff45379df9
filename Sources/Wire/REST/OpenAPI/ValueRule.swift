import Basics
import JSON

/// A rule for the values of a field in requests, as far as JSON Schema can express it.
package enum ValueRule: Sendable {
    /// Any value, which has to be sent.
    case required
    /// Limits of a number, and whether it has to be sent although its message can tell that it was not.
    case range(ClosedRange<Int64>, isRequired: Bool = false)
    /// The smallest number of characters of a text.
    case minimumLength(Int64)
    /// A regular expression for the whole text (JSON Schema, "Regular Expressions"), and a text that it matches.
    case pattern(String, example: String, mayBeEmpty: Bool = false)
    case oneOf([String])
    /// A list of different texts that a regular expression matches.
    case identifiers(String, example: String)

    /// The members of the JSON Schema of a list of such values.
    var listMembers: [(String, JSONValue)] {
        if case .identifiers = self { [("uniqueItems", .bool(true))] } else { [] }
    }

    /// The members of the JSON Schema of a value.
    var members: [(String, JSONValue)] {
        switch self {
        case .required: []
        case .range(let range, _): [("minimum", .number(range.lowerBound)), ("maximum", .number(range.upperBound))]
        case .minimumLength(let length): [("minLength", .number(length))]
        case .pattern(let pattern, _, _): [("pattern", .string(pattern))]
        case .identifiers(let pattern, _): [("pattern", .string(pattern))]
        case .oneOf(let values): [("enum", .array(values.map { .string($0) }))]
        }
    }

    /// A value that obeys the rule; `nil` = any of the field's type.
    var example: JSONValue? {
        switch self {
        case .required: nil
        case .range(let range, _): .number(max(range.lowerBound, min(1, range.upperBound)))
        case .minimumLength(let length): length > 1 ? .string(String(repeating: "x", count: Int(length))) : nil
        case .pattern(_, let example, _): .string(example)
        case .identifiers(_, let example): .string(example)
        case .oneOf(let values): .string(values.first ?? "")
        }
    }

    /// Whether a request must have the field, because the value that it has otherwise breaks the rule.
    ///
    /// - Parameter hasPresence: whether the field's message can tell that it was not sent.
    func requires(hasPresence: Bool) -> Bool {
        switch self {
        case .required: true
        case .range(let range, let isRequired): isRequired || !hasPresence && !range.contains(0)
        case .minimumLength: !hasPresence
        case .pattern(_, _, let mayBeEmpty): !hasPresence && !mayBeEmpty
        case .identifiers: false
        case .oneOf(let values): !hasPresence && !values.contains("")
        }
    }
}
