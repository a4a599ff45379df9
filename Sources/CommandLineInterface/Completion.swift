import Basics
import JSON

/// A program whose command line a shell can complete.
package protocol CompletedProgram {
    /// All commands of the program.
    static var commands: CommandGroup { get }
}

/// `data-gateway completion`
package struct Completion<Program: CompletedProgram>: Command {
    package static var name: String { "completion" }
    package static var summary: String { "Print a script that completes the command line in a shell" }
    package static var examples: [String] { ["completion bash"] }
    package static var discussion: [String] {
        [
            """
            bash: add 'source <(data-gateway completion bash)' to ~/.bashrc. \
            zsh: add 'source <(data-gateway completion zsh)' to ~/.zshrc, after compinit. \
            fish: add 'data-gateway completion fish | source' to ~/.config/fish/config.fish.
            """
        ]
    }

    package static var parameters: [Parameter<Self>] {
        [.argument("SHELL", \.shell, "The shell: bash, zsh or fish")]
    }

    var shell = CompletionShell.bash

    package init() {}

    package func run(in environment: CommandEnvironment) async -> ExitCode {
        await environment.report(asJSON: false) {
            let words = CompletionWords(Program.commands)
            let script =
                switch shell {
                case .bash: words.bash
                case .zsh: words.zsh
                case .fish: words.fish
                }
            return Reply(json: .string(script), text: script)
        }
    }
}

/// A shell that can complete command lines.
enum CompletionShell: String, ArgumentChoice {
    case bash, zsh, fish
}
