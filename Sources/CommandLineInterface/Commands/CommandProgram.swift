import Basics
import JSON

/// A program with commands: finds the command of a command line, and runs it.
package struct CommandProgram: Sendable {
    private let commands: CommandGroup

    package init(_ commands: CommandGroup) { self.commands = commands }

    /// The request of a command line.
    package enum Request: Sendable {
        case print(String)
        case perform(any Command)
    }

    /// - Parameter words: the command line without the program's name.
    package func run(_ words: [String], in environment: CommandEnvironment) async -> ExitCode {
        do {
            switch try request(words) {
            case .print(let text):
                return await environment.report(asJSON: false) { Reply(json: .string(text), text: text) }
            case .perform(let command):
                var environment = environment
                environment.commandPath = commandPath(words)
                return await command.run(in: environment)
            }
        } catch {
            // The options are not known, but the reader of their output is a program.
            if words.contains("--json") || words.contains("--output=json") || words.contains(["--output", "json"]) {
                return await environment.attempt(asJSON: true) {
                    throw ClientFailure(error.message, exitCode: .usage)
                }
            }
            environment.errorOutput("data-gateway: \(error)")
            return .usage
        }
    }

    /// Returns the words that name the command of a valid command line.
    private func commandPath(_ words: [String]) -> [String] {
        var group: CommandGroup? = commands
        var path: [String] = []
        var words = words[...]
        while let current = group, let word = words.popFirst() {
            guard let member = current.member(word) else {
                guard let others = CommandSynonyms.replacement(of: word, in: current) else { break }
                words = others[...] + words
                continue
            }
            path.append(member.name)
            if case .group(let inner) = member { group = inner } else { group = nil }
        }
        return path
    }

    /// Returns the request of `words`.
    package func request(_ words: [String]) throws(UsageError) -> Request {
        if ["--version", "-v"].contains(words.first) { return .print("data-gateway \(ProgramVersion.current)") }
        let beforeHelp = words.prefix { $0 != "--help" && $0 != "-h" && $0 != "--" }
        if words.first == "help" { return try find(beforeHelp.dropFirst(), wantsHelp: true) }
        let wantsHelp = beforeHelp.endIndex < words.endIndex && words[beforeHelp.endIndex] != "--"
        return try find(wantsHelp ? beforeHelp : words[...], wantsHelp: wantsHelp)
    }

    /// Finds the command or group that the words name.
    private func find(_ words: ArraySlice<String>, wantsHelp: Bool) throws(UsageError) -> Request {
        var group = commands
        var path: [String] = []
        var words = words
        while let word = words.popFirst() {
            guard let member = group.member(word) else {
                if let others = CommandSynonyms.replacement(of: word, in: group) {
                    words = others[...] + words
                    continue
                }
                throw unknown(word, in: group, path: path)
            }
            path.append(member.name)
            switch member {
            case .group(let inner):
                if let own = inner.own, !inner.members.contains(where: { $0.name == words.first }) {
                    return wantsHelp
                        ? .print(HelpText.of(own, path: path, members: inner))
                        : .perform(try parse(own, words, path: path))
                }
                group = inner
            case .command(let command):
                return wantsHelp
                    ? .print(HelpText.of(command, path: path)) : .perform(try parse(command, words, path: path))
            }
        }
        guard wantsHelp else {
            let names = group.members.map(\.name).joined(separator: ", ")
            let lead = path.isEmpty ? "a command is required" : "\(path.joined(separator: " ")) requires a command"
            throw UsageError("\(lead): \(names)", path: path)
        }
        return .print(HelpText.of(group, path: path))
    }

    private func unknown(_ word: String, in group: CommandGroup, path: [String]) -> UsageError {
        let kind = word.hasPrefix("-") ? "option" : "command"
        let names =
            kind == "option"
            ? ["--help", "--version"]
            : group.members.map(\.name) + CommandSynonyms.known(in: group) + (path.isEmpty ? ["help"] : [])
        let lead = path.isEmpty ? "unknown" : "\(path.joined(separator: " ")) has no"
        let hint = CommandSynonyms.hint(for: word, at: path, in: commands) ?? Suggestion.text(for: word, among: names)
        return UsageError("\(lead) \(kind) \(word.isEmpty ? "''" : word)\(hint)", path: path)
    }

    private func parse<C: Command>(
        _ type: C.Type, _ words: ArraySlice<String>, path: [String]
    ) throws(UsageError) -> C {
        var command = C()
        try ArgumentParser.parse(words, into: &command, parameters: C.parameters, path: path)
        return command
    }
}
