import CommandLineInterface
import Glibc

// The command line of a machine that only uploads: the device's commands of the gateway's program, without the gateway.
signal(SIGPIPE, SIG_IGN)
await CommandProgram(DeviceProgram.commands).run(Array(CommandLine.arguments.dropFirst()), in: .process).endProcess()
