import Basics
import CommandLineInterface
import DeviceAgent
import DeviceClient

/// What every command of the agent says.
struct AgentOptions: Sendable {
    /// Names the configuration file, where `--config` does not.
    static let variable = "DATA_GATEWAY_AGENT_CONFIG"

    var configurationPath: String?
    var device = DeviceOptions()

    static func parameters(json: String) -> [Parameter<Self>] {
        [
            .option(
                "--config", "FILE", \.configurationPath,
                "The agent's configuration (default: $\(variable), else agent.json in the device's folder)")
        ] + DeviceOptions.parameters(json: json).map { $0.at(\.device) }
    }

    /// - Throws: with every fault of the file.
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
            for message in error.messages.dropLast() { environment.errorOutput("data-gateway: \(path): \(message)") }
            throw ClientFailure("\(path): \(error.messages.last ?? "")", exitCode: .usage)
        }
    }
}
