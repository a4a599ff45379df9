import CommandLineInterface
import DeviceCommands

/// The program `data-gateway` of a machine that only uploads.
enum DeviceProgram: CompletedProgram {
    static let commands = CommandGroup(
        "data-gateway", "Upload files as a device",
        [
            DeviceCommands.initialize, DeviceCommands.upload, DeviceCommands.agent,
            .command(Completion<DeviceProgram>.self), .command(Version.self),
        ])
}
