import CommandLineInterface
import Commands
import Glibc

// If the reader of the output ends early (`data-gateway device list | head`), the process must not be killed by a signal.
signal(SIGPIPE, SIG_IGN)
await Program.run(Array(CommandLine.arguments.dropFirst()), in: .process).endProcess()
