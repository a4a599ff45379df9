import Basics
import CommandLineInterface
import Configuration
import Observability
import Serve

/// `data-gateway config check`
struct ConfigCheck: Command {
    static let name = "check"
    static let summary = "Check a configuration, and report its first error"
    static let discussion = [
        """
        Reads the file, the variables DATA_GATEWAY_SECTION__NAME and the options like 'serve', and the certificates \
        that they name. Exits with 1 if the configuration has an error.
        """
    ]

    static var parameters: [Parameter<Self>] {
        ServeOptions.configurationParameters.map { $0.at(\.options) } + [
            .flag("--json", \.json, "Print one JSON object")
        ]
    }

    var options = ServeOptions()
    var json = false

    func run(in environment: CommandEnvironment) async -> ExitCode {
        // Warnings are written to the log.
        let log = ProcessLog()
        defer { log.flush() }
        return await environment.report(asJSON: json) {
            let configuration = try Configuration(options, variables: environment.variables, log: Logger(log))
            _ = try GatewayCertificates(configuration)
            let given = configuration.settings.count { $0.source != .standard }
            return Reply(
                json: .object([JSONValue.Member(name: "settings", value: .number(Int64(given)))]),
                text: "in order: \(given) of \(configuration.settings.count) keys set")
        }
    }
}
