import Basics
import CommandLineInterface
import JSON
import Proto

/// An argument `DAYS:FILTER`; the filter may contain further colons.
struct RetentionRuleArgument: ArgumentValue, Hashable, Sendable {
    let days: Int32
    let filter: String

    init(argument: String) throws(ArgumentProblem) {
        guard let colon = argument.firstIndex(of: ":"), let days = Int32(argument[..<colon]) else {
            throw ArgumentProblem("must be DAYS:FILTER, not '\(argument)'")
        }
        self.days = days
        filter = String(argument[argument.index(after: colon)...])
    }

    var message: RetentionRule { RetentionRule(filter: filter, days: days) }
}

extension [RetentionRule] {
    /// The rules in the form of the command line.
    var field: ResourceField {
        let objects = map { rule in
            JSONValue.object([
                JSONValue.Member(name: "filter", value: .string(rule.filter)),
                JSONValue.Member(name: "days", value: .number(Int64(rule.days))),
            ])
        }
        return ResourceField(
            name: "rules", json: .array(objects), text: map { "\($0.days):\($0.filter)" }.joined(separator: "; "))
    }
}
