import Basics
import JSON

/// `data-gateway version`
package struct Version: Command {
    package static let name = "version"
    package static let summary = "Print the version"

    package static let examples = ["version"]

    package static var parameters: [Parameter<Self>] { [.flag("--json", \.json, "Print one JSON object")] }

    var json = false

    package init() {}

    package func run(in environment: CommandEnvironment) async -> ExitCode {
        await environment.report(asJSON: json) {
            Reply(
                json: .object([JSONValue.Member(name: "version", value: .string(ProgramVersion.current))]),
                text: "data-gateway \(ProgramVersion.current)")
        }
    }
}
