import Basics
import CommandLineInterface

/// The name of an organization, which is sent as metadata: an unsuitable text is refused before the call.
struct OrganizationArgument: ArgumentValue, Hashable, Sendable {
    let name: String

    init(argument: String) throws(ArgumentProblem) {
        guard !argument.isEmpty, argument.unicodeScalars.allSatisfy({ !$0.isUnprintable }),
            argument.first != " ", argument.last != " "
        else {
            throw ArgumentProblem(
                "must be a name that is not empty and has no control characters or surrounding spaces")
        }
        name = argument
    }
}
