package import CommandLineInterface

/// The commands of a device, for the programs that include them.
package enum DeviceCommands {
    package static let initialize: CommandNode = .command(Initialize.self)
    package static let upload: CommandNode = .command(Upload.self)
    package static let agent: CommandNode = .group(
        CommandGroup(
            "agent", "Upload the files that appear in directories",
            [.command(AgentRun.self), .command(AgentShow.self), .command(AgentCheck.self)],
            guide: CommandGroup.Guide(
                """
                The agent needs a device that init has set up, and a configuration, which 'agent run --help' describes. \
                Usually it runs as the service data-gateway-agent of the package data-gateway-device.
                """,
                steps: [
                    "init 260427-000001 --host https://gateway.example.com", "agent check --config agent.json",
                    "agent run --config agent.json", "agent status",
                ])))
}
