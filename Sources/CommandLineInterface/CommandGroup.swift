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
