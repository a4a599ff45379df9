import CommandLineInterface

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
