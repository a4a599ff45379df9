import Basics
import CommandLineInterface
import HTTPTypes
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

/// `data-gateway context add`
struct ContextAdd: Command {
    static let name = "add"
    static let summary = "Add a context for another gateway or user, and select it"
    static let discussion = [
        "'login' signs in to the selected context. DATA_GATEWAY_CONTEXT selects one for a single command."
    ]
    static let examples = [
        "context add plant-2 --host https://plant-2.example.com",
        "context add plant-3 --auth-server plant-3.example.com:50051",
    ]

    static var parameters: [Parameter<Self>] {
        [
            .argument("NAME", \.context, "The name of the context")
        ] + ListenerOptions.parameters.map { $0.at(\.listeners) } + [
            .flag("--json", \.json, "Print one JSON object")
        ]
    }

    var context = ContextName.standard
    var listeners = ListenerOptions()
    var json = false

    func run(in environment: CommandEnvironment) async -> ExitCode {
        await environment.report(asJSON: json) {
            let contexts = try Contexts(environment)
            let file = contexts.file(of: context)
            guard try file.read() == nil else {
                throw ClientFailure(
                    "the context \(context.text) exists already: select it with data-gateway context use \(context.text)"
                )
            }
            guard !listeners.isEmpty else {
                throw ClientFailure("context add needs either --host or --auth-server", exitCode: .usage)
            }
            try file.write(try await listeners.session(environment, last: nil).signedOut)
            try contexts.select(context)
            return Reply(
                ContextRow(name: context, session: try file.read(), isSelected: true))
        }
    }
}

/// `data-gateway context use`
struct ContextUse: Command {
    static let name = "use"
    static let summary = "Select the context that commands use"
    static let examples = ["context use default"]

    static var parameters: [Parameter<Self>] {
        [
            .argument("NAME", \.context, "The context, as printed by context list"),
            .flag("--json", \.json, "Print one JSON object"),
        ]
    }

    var context = ContextName.standard
    var json = false

    func run(in environment: CommandEnvironment) async -> ExitCode {
        await environment.report(asJSON: json) {
            let contexts = try Contexts(environment)
            try contexts.select(try contexts.existing(context))
            return Reply(ContextRow(name: context, session: try contexts.file(of: context).read(), isSelected: true))
        }
    }
}
