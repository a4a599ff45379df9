import CommandLineInterface
import Commands
import Foundation

// A reader of ours that hangs up (`data-gateway device list | head`) is no reason to die with a signal.
signal(SIGPIPE, SIG_IGN)
exit(await Program.run(Array(CommandLine.arguments.dropFirst()), in: .process).rawValue)
