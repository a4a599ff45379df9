import CommandLineInterface
import HTTPTypes

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
