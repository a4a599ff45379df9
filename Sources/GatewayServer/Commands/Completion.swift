import Basics
import CommandLineInterface

/// `data-gateway completion`
struct Completion: Command {
    static let name = "completion"
    static let summary = "Print a script that completes the command line in a shell"
    static let discussion = [
        """
        bash: add 'source <(data-gateway completion bash)' to ~/.bashrc. \
        zsh: add 'source <(data-gateway completion zsh)' to ~/.zshrc, after compinit. \
        fish: add 'data-gateway completion fish | source' to ~/.config/fish/config.fish.
        """
    ]

    enum Shell: String, ArgumentChoice {
        case bash, zsh, fish
    }

    static var parameters: [Parameter<Self>] { [.argument("SHELL", \.shell, "The shell: bash, zsh or fish")] }

    var shell = Shell.bash

    func run(in environment: CommandEnvironment) async -> ExitCode {
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
