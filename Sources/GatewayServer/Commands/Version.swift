import Basics
import CommandLineInterface
import Observability

/// `data-gateway version`
struct Version: Command {
    static let name = "version"
    static let summary = "Print the version"

    static var parameters: [Parameter<Self>] { [.flag("--json", \.json, "Print one JSON object")] }

    var json = false

    func run(in environment: CommandEnvironment) async -> ExitCode {
        await environment.report(asJSON: json) {
            Reply(
                json: .object([JSONValue.Member(name: "version", value: .string(ProgramVersion.current))]),
                text: "data-gateway \(ProgramVersion.current)")
        }
    }
}
