import Basics
import CommandLineInterface
import DeviceAgent
import DeviceClient
import HTTPClient
import JSON

/// The form of the agent's log lines.
enum AgentLog {
    /// The variable that systemd sets if its journal receives standard error: the journal has the times.
    static let journalVariable = "JOURNAL_STREAM"

    static func line(_ text: String, in environment: CommandEnvironment, asJSON: Bool) -> String {
        let time = RFC3339.text(UnixTime(seconds: environment.clock.now().seconds))
        if asJSON {
            return JSONValue.object([
                JSONValue.Member(name: "time", value: .string(time)),
                JSONValue.Member(name: "message", value: .string(text)),
            ]).text
        }
        return (environment[journalVariable] == nil ? "\(time) " : "") + TextLayout.printable(text)
    }
}

/// `data-gateway agent run`
struct AgentRun: Command {
    static let name = "run"
    static let summary = "Upload the files that appear in directories"
    static let discussion =
        [
            """
            Runs until SIGTERM or SIGINT, usually as the service data-gateway-agent. A file is uploaded when it has not \
            changed for settle_seconds and no process has it open for writing. After a crash or a power loss the agent \
            continues where it was. Log lines go to standard error.
            """
        ] + AgentOptions.configurationHelp
    static let examples = ["agent run --config /etc/data-gateway/agent.json"]

    static var parameters: [Parameter<Self>] {
        AgentOptions.parameters(json: "Print each log line as one JSON object").map { $0.at(\.options) }
    }

    var options = AgentOptions()

    func run(in environment: CommandEnvironment) async -> ExitCode {
        await Interruption.cancelling {
            await environment.attempt(asJSON: options.device.json) {
                let configuration = try options.configuration(environment)
                let folder = try options.device.deviceFolder(environment)
                let asJSON = options.device.json
                do {
                    var transfer = Uploader.Options()
                    transfer.authorities = environment.authorities
                    let agent = try Agent(configuration, in: folder, options: transfer, clock: environment.clock) {
                        environment.errorOutput(AgentLog.line($0, in: environment, asJSON: asJSON))
                    }
                    try await agent.run()
                } catch let failure as AgentFailure {
                    throw ClientFailure(failure.message)
                } catch {
                    throw ClientFailure(error, file: "agent", hint: "try again later")
                }
            }
        }
    }
}
