import CommandLineInterface
import Configuration

/// `data-gateway config show`
struct ConfigShow: Command {
    static let name = "show"
    static let summary = "Show what a configuration sets, and where each value comes from"
    static let discussion = [
        """
        Reads the file, the variables DATA_GATEWAY_SECTION__NAME and the options as 'serve' does. Secrets show as ***.
        """
    ]

    static var parameters: [Parameter<Self>] {
        [.flag("--effective", \.isEffective, "Every key that there is, also those that keep their default")]
            + ServeOptions.configurationParameters.map { $0.at(\.options) }
            + [.flag("--json", \.json, "Print one JSON object")]
    }

    var isEffective = false
    var options = ServeOptions()
    var json = false

    func run(in environment: CommandEnvironment) async -> ExitCode {
        await environment.report(asJSON: json) {
            let settings = try Configuration(options, variables: environment.variables).settings
            return Reply("settings", settings.filter { isEffective || $0.source != .standard })
        }
    }
}
