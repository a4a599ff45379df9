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

/// The possible words at each position of a command line, and the shell scripts that offer them.
///
/// Each script looks up the words before the cursor that are not options, joined by spaces: the path of a group or of a command.
/// An option's value is one of its words; without such words, it is completed as a file.
struct CompletionWords {
    /// The possible words after a path, with their help.
    struct Place {
        let path: [String]
        let words: [(word: String, help: String)]
        /// The possible values of options, by the option's name.
        var values: [(option: String, words: [String])] = []
    }

    let places: [Place]

    init(_ group: CommandGroup) {
        places = Self.places(of: group, at: [])
    }

    private static func places(of group: CommandGroup, at path: [String]) -> [Place] {
        let own = group.own.map { place(of: $0, at: path).words.filter { $0.word != help.word } } ?? []
        var places = [Place(path: path, words: group.members.map { ($0.name, $0.summary) } + own + [help])]
        for member in group.members {
            switch member {
            case .group(let inner): places += Self.places(of: inner, at: path + [inner.name])
            case .command(let command): places.append(place(of: command, at: path + [command.name]))
            }
        }
        return places
    }

    private static func place<C: Command>(of command: C.Type, at path: [String]) -> Place {
        Place(
            path: path, words: command.argumentWords + command.optionWords + [help],
            values: command.parameters.map(\.label).filter { !$0.choices.isEmpty && $0.kind == .option }
                .map { ($0.name, $0.choices) })
    }

    private static let help = (word: "--help", help: "Print this help")

    // MARK: Scripts

    /// The lines `path) words;;` for all positions.
    private var cases: String {
        places.flatMap { place in
            let path = place.path.joined(separator: " ")
            return [Self.line(path, place.words.map(\.word))]
                + place.values.map { Self.line("\(path) \($0.option)", $0.words) }
        }
        .joined(separator: "\n")
    }

    private static func line(_ place: String, _ words: [String]) -> String {
        "        \"\(place)\") words=\"\(words.joined(separator: " "))\";;"
    }

    /// Shell code for bash and zsh that sets `words` to the possible words at the cursor.
    private var lookup: String {
        """
            local place="" words="" word
            for word in "$@"; do
                case "$word" in
                -*) ;;
                *) if _data_gateway_words "${place:+$place }$word" >/dev/null; then place="${place:+$place }$word"; fi;;
                esac
            done
            word="${@: -1}"
            words="$(_data_gateway_words "$place $word")" || words="$(_data_gateway_words "$place")"
        """
    }

    private var wordsFunction: String {
        """
        _data_gateway_words() {
            local words=""
            case "$1" in
        \(cases)
                *) return 1;;
            esac
            printf '%s\\n' "$words"
        }
        """
    }

    var bash: String {
        """
        # Completion of data-gateway for bash.
        \(wordsFunction)
        _data_gateway_find() {
        \(lookup)
            printf '%s\\n' "$words"
        }
        _data_gateway() {
            local current="${COMP_WORDS[COMP_CWORD]}"
            COMPREPLY=($(compgen -W "$(_data_gateway_find "${COMP_WORDS[@]:1:COMP_CWORD-1}")" -- "$current"))
        }
        complete -o default -F _data_gateway data-gateway
        """
    }

    var zsh: String {
        """
        #compdef data-gateway
        # Completion of data-gateway for zsh.
        \(wordsFunction)
        _data_gateway_find() {
        \(lookup)
            printf '%s\\n' "$words"
        }
        _data_gateway() {
            local -a found
            found=(${=$(_data_gateway_find "${(@)words[2,CURRENT-1]}")})
            compadd -- $found
            _files
        }
        # As a file of $fpath, it is the function itself the first time.
        if [ "${funcstack[1]}" = _data-gateway ]; then _data_gateway "$@"; else compdef _data_gateway data-gateway; fi
        """
    }

    var fish: String {
        let lines = places.flatMap { place in
            place.words.map { word in
                let values = place.values.first { $0.option == word.word }?.words.joined(separator: " ")
                let value = values.map { " -x -a \(Self.quoted($0))" } ?? ""
                let option =
                    word.word.hasPrefix("--") ? "-l \(word.word.dropFirst(2))\(value)" : "-f -a \(word.word)"
                return "complete -c data-gateway -n '__data_gateway_at \"\(place.path.joined(separator: " "))\"' "
                    + "\(option) -d \(Self.quoted(word.help))"
            }
        }
        let paths = places.map { "\"\($0.path.joined(separator: " "))\"" }.joined(separator: " ")
        return """
            # Completion of data-gateway for fish.
            function __data_gateway_at
                set -l paths \(paths)
                set -l path ""
                for word in (commandline -opc)[2..]
                    set -l longer (string trim -- "$path $word")
                    contains -- "$longer" $paths; and set path "$longer"
                end
                test "$path" = "$argv[1]"
            end
            \(lines.joined(separator: "\n"))
            """
    }

    private static func quoted(_ text: String) -> String {
        "'\(text.replacing(bytes: ["\\": "\\\\", "'": "\\'"]))'"
    }
}

extension Command {
    /// The words that an argument may be.
    fileprivate static var argumentWords: [(word: String, help: String)] {
        parameters.map(\.label).filter { $0.kind == .argument }.flatMap { label in
            label.choices.map { (word: $0, help: label.help) }
        }
    }

    fileprivate static var optionWords: [(word: String, help: String)] {
        parameters.map(\.label).filter { $0.kind != .argument }.map { ($0.name, $0.help) }
    }
}
