import CommandLineInterface
import DeviceCommands
import Foundation

// The command line of a machine that only uploads: the same commands as in the gateway's program, without the gateway.
signal(SIGPIPE, SIG_IGN)
let program = CommandProgram(
    CommandGroup(
        "data-gateway", "Upload files as a device",
        [DeviceCommands.initialize, DeviceCommands.upload, DeviceCommands.agent, .command(Version.self)]))
exit(await program.run(Array(CommandLine.arguments.dropFirst()), in: .process).rawValue)
