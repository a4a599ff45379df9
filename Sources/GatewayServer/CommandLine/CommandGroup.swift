/// Commands that share their first words.
package struct CommandGroup: Sendable {
    package let name: String
    package let summary: String
    package let members: [CommandNode]
    /// Titles of the help with the members that stand below each; empty = one list.
    let sections: [(title: String, names: [String])]

    package init(
        _ name: String, _ summary: String, _ members: [CommandNode], sections: [(title: String, names: [String])] = []
    ) {
        self.sections = sections
        self.name = name
        self.summary = summary
        self.members = members
    }

    /// Every command below, with the words that lead to it from here.
    var leaves: [(path: [String], command: any Command.Type)] {
        members.flatMap { member in
            switch member {
            case .command(let command): [(path: [command.name], command: command)]
            case .group(let group): group.leaves.map { (path: [group.name] + $0.path, command: $0.command) }
            }
        }
    }
}

/// A place in the tree of commands.
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
