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

/// The options that every command of the agent has.
struct AgentOptions: Sendable {
    /// The environment variable with the configuration file, if `--config` is not given.
    static let variable = "DATA_GATEWAY_AGENT_CONFIG"

    /// Paragraphs that describe the configuration file.
    static let configurationHelp = [
        "The configuration is one JSON object. The shortest one names a directory:",
        AgentConfigurationFile.shortest,
        """
        Each entry of directories has path, and may have include, exclude, recursive, tags, priority, settle_seconds and \
        after_upload ("keep", "delete" or "delete_when_full"). Beside directories there may be rate, rates, minimum_free, \
        files, parts, rescan_seconds and metrics_file.
        """,
    ]

    var configurationPath: String?
    var device = DeviceOptions()

    static func parameters(json: String) -> [Parameter<Self>] {
        [
            .option(
                "--config", "FILE", \.configurationPath,
                "The agent's configuration (default: $\(variable), else agent.json in the device's folder)")
        ] + DeviceOptions.parameters(json: json).map { $0.at(\.device) }
    }

    /// - Throws: an error whose `faults` are those of the file, if it has several.
    func configuration(_ environment: CommandEnvironment) throws(ClientFailure) -> AgentConfiguration {
        let path: String
        if let named = configurationPath ?? environment[Self.variable] {
            path = named
        } else {
            path = try device.deviceFolder(environment).path + "/agent.json"
        }
        do throws(AgentConfigurationFile.Faults) {
            return try AgentConfigurationFile.read(path)
        } catch {
            let messages = error.messages.map { "\(path): \($0)" }
            guard messages.count > 1 else { throw ClientFailure.configuration(messages.first ?? path) }
            var failure = ClientFailure.configuration("\(path) has \(messages.count) faults")
            failure.faults = messages
            throw failure
        }
    }
}
