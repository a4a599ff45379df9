/// A group of commands with the same first words.
package struct CommandGroup: Sendable {
    package let name: String
    package let summary: String
    package let members: [CommandNode]
    /// The titles of the help's sections with their members; empty = one list.
    let sections: [(title: String, names: [String])]
    /// The command of the group's own words, if no member follows them; `nil` = a member has to follow.
    package let own: (any Command.Type)?

    /// The steps from which a newcomer starts.
    let guide: Guide

    /// Help for people who do not know the commands of a group yet.
    package struct Guide: Sendable {
        let text: String
        /// Command lines without the program's name, in their order.
        let steps: [String]

        package init(_ text: String = "", steps: [String] = []) {
            self.text = text
            self.steps = steps
        }
    }

    package init(
        _ name: String, _ summary: String, _ members: [CommandNode], own: (any Command.Type)? = nil,
        sections: [(title: String, names: [String])] = [], guide: Guide = Guide()
    ) {
        self.sections = sections
        self.guide = guide
        self.own = own
        self.name = name
        self.summary = summary
        self.members = members
    }

    /// All commands of the group and its subgroups, with the words that follow the group's own path.
    var leaves: [(path: [String], command: any Command.Type)] {
        let first: [(path: [String], command: any Command.Type)] = own.map { [(path: [], command: $0)] } ?? []
        return first
            + members.flatMap { member in
                switch member {
                case .command(let command): [(path: [command.name], command: command)]
                case .group(let group): group.leaves.map { (path: [group.name] + $0.path, command: $0.command) }
                }
            }
    }
}

/// A node in the tree of commands.
package enum CommandNode: Sendable {
    case command(any Command.Type)
    indirect case group(CommandGroup)

    package var name: String {
        switch self {
        case .command(let command): command.name
        case .group(let group): group.name
        }
    }

    package var summary: String {
        switch self {
        case .command(let command): command.summary
        case .group(let group): group.summary
        }
    }

    package var formerName: String? {
        switch self {
        case .command(let command): command.formerName
        case .group: nil
        }
    }
}

/// Words of other tools for commands: they work, and no help lists them.
package enum CommandSynonyms {
    /// For each word, the words of commands that it stands for: the first of them that a group has.
    package static let words: [(synonym: String, commands: [String])] = [
        ("get", ["download", "show"]),
        ("put", ["upload"]),
        ("list", ["ls"]),
        ("ls", ["list"]),
        ("delete", ["rm", "delete", "revoke"]),
        ("remove", ["rm", "delete", "revoke"]),
        ("rm", ["delete", "remove", "revoke"]),
        ("add", ["create", "register"]),
        ("new", ["create", "register"]),
        ("create", ["register"]),
        ("info", ["show"]),
        ("stat", ["object show", "show"]),
        ("cat", ["object cat"]),
        ("find", ["object find"]),
        ("du", ["object du"]),
        ("share", ["object share"]),
    ]

    /// Words of other tools without a command that does the same: the group's words, the words, the commands that serve the purpose,
    /// and a sentence where a command is not the answer.
    package static let hints: [(group: String, words: [String], commands: [String], sentence: String)] = [
        ("", ["sync", "mirror"], ["upload", "download"], ""),
        ("", ["cp"], ["upload", "download", "copy create"], ""),
        ("", ["mv"], ["object tag"], "an object keeps its name"),
        ("trash", ["delete", "remove", "rm"], ["trash purge"], ""),
        ("uploads", ["cancel", "delete", "remove", "rm"], ["uploads abort"], ""),
        ("object", ["list", "ls"], ["ls"], ""),
        ("object", ["download"], ["download"], ""),
        ("context", ["delete", "remove", "rm"], [], "a context ends when its file contexts/NAME.json is deleted"),
    ]

    /// Returns the hint for a word, as the rest of a sentence; `nil` = none.
    ///
    /// - Parameter program: all commands, of which a hint names only those that exist.
    static func hint(for word: String, at path: [String], in program: CommandGroup) -> String? {
        let group = path.joined(separator: " ")
        guard let hint = hints.first(where: { $0.group == group && $0.words.contains(word) }) else { return nil }
        let commands = hint.commands.filter { program.contains($0.split(separator: " ").map(String.init)) }
        let first = commands.dropLast().joined(separator: ", ")
        let use = commands.last.map { first.isEmpty ? "use \($0)" : "use \(first) or \($0)" } ?? ""
        let parts = [hint.sentence, use].filter { !$0.isEmpty }
        return parts.isEmpty ? nil : "; \(parts.joined(separator: ": "))"
    }

    /// Returns the words of the command that a synonym stands for in a group; `nil` = none.
    static func replacement(of word: String, in group: CommandGroup) -> [String]? {
        for command in words.first(where: { $0.synonym == word })?.commands ?? [] {
            let path = command.split(separator: " ").map(String.init)
            if group.contains(path) { return path }
        }
        return nil
    }

    /// Returns the synonyms that work in a group.
    static func known(in group: CommandGroup) -> [String] {
        words.map(\.synonym).filter { replacement(of: $0, in: group) != nil }
    }
}

extension CommandGroup {
    /// Returns the member with a name or former name.
    func member(_ word: String) -> CommandNode? {
        members.first { $0.name == word || $0.formerName == word }
    }

    fileprivate func contains(_ path: [String]) -> Bool {
        guard let first = path.first, let member = member(first) else { return false }
        guard path.count > 1 else { return true }
        guard case .group(let inner) = member else { return false }
        return inner.contains(Array(path.dropFirst()))
    }
}
