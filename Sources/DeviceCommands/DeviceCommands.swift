import CommandLineInterface

/// The commands of a device, for the programs that have them.
package enum DeviceCommands {
    package static let initialize: CommandNode = .command(Initialize.self)
    package static let upload: CommandNode = .command(Upload.self)
    package static let agent: CommandNode = .group(
        CommandGroup(
            "agent", "Upload the files that appear in directories",
            [.command(AgentRun.self), .command(AgentShow.self), .command(AgentCheck.self)]))
}
