import Basics
import CommandLineInterface
import DeviceAgent
import DeviceClient

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
