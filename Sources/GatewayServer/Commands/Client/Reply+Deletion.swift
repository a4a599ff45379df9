import Basics
import CommandLineInterface

extension Reply {
    /// The reply of a command that deletes a resource: in JSON the field with its name.
    static func deleted(_ field: String, _ value: JSONValue, _ what: String) -> Reply {
        Reply(json: .object([JSONValue.Member(name: field, value: value)]), text: "deleted \(what)")
    }
}
