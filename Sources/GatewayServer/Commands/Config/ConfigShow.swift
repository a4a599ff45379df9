package import CommandLineInterface
import Configuration
import Serve
import Settings

/// `data-gateway config show`
struct ConfigShow: Command {
    static let name = "show"
    static let summary = "Show a configuration with the source of each value"
    static let discussion = [
        """
        Reads the file, the variables DATA_GATEWAY_SECTION__NAME and the options like 'serve'. Secrets are shown as ***.
        """
    ]

    static var parameters: [Parameter<Self>] {
        [.flag("--effective", \.isEffective, "Show every key, including those with their default value")]
            + ServeOptions.configurationParameters.map { $0.at(\.options) }
            + [.flag("--json", \.json, "Print one JSON object")]
    }

    var isEffective = false
    var options = ServeOptions()
    var json = false

    func run(in environment: CommandEnvironment) async -> ExitCode {
        await environment.report(asJSON: json) {
            let settings = try Configuration(options, apps: Program.apps, variables: environment.variables).settings
            return Reply("settings", settings.filter { isEffective || $0.source != .standard })
        }
    }
}

extension ConfigurationSetting: Resource {
    package static let columns = ["key", "source", "value"]

    package var fields: [ResourceField] {
        [.text("key", key), .text("value", value), .text("source", source.description)]
    }
}
