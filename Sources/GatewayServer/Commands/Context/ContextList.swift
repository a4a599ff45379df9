import Basics
import CommandLineInterface
import JSON

/// `data-gateway context list`
struct ContextList: Command {
    static let name = "list"
    static let summary = "List the contexts, and show which one is selected"
    static let examples = ["context list"]

    static var parameters: [Parameter<Self>] { [.flag("--json", \.json, "Print one JSON object")] }

    var json = false

    func run(in environment: CommandEnvironment) async -> ExitCode {
        await environment.report(asJSON: json) {
            let contexts = try Contexts(environment)
            let current = try contexts.current()
            return Reply(
                "contexts",
                try contexts.all().map { name in
                    ContextRow(
                        name: name, session: try contexts.file(of: name).read(), isSelected: name == current)
                })
        }
    }
}

/// A context with its session.
struct ContextRow: Resource {
    static let columns = ["is_selected", "name", "auth_server", "organization", "user_name"]

    let name: ContextName
    let session: SignedInSession?
    let isSelected: Bool

    var fields: [ResourceField] {
        [
            ResourceField(
                name: "is_selected", json: .bool(isSelected), text: isSelected ? "yes" : "no", heading: "selected"),
            .text("name", name.text), .text("auth_server", (session?.authServer).map { "\($0)" } ?? ""),
            .text("organization", session?.organization ?? ""), .text("user_name", session?.userName ?? ""),
        ]
    }
}
