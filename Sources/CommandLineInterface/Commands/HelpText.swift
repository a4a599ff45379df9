/// The pages that `--help` prints, at most 80 columns wide.
package enum HelpText {
    private static let width = 80
    private static let helpOption = ParameterLabel(
        kind: .flag, name: "--help", placeholder: "", help: "Print this help")

    /// Returns a command's page.
    ///
    /// - Parameter members: the group whose own command it is.
    package static func of<C: Command>(_ command: C.Type, path: [String], members: CommandGroup? = nil) -> String {
        let labels = command.parameters.map(\.label)
        let arguments = labels.filter { $0.kind == .argument }
        let options = labels.filter { $0.kind != .argument }
        // Required options are listed first.
        let sorted = options.filter(\.isRequired) + options.filter { !$0.isRequired } + [helpOption]
        var sections = ["\(command.summary).", usage(path, arguments: arguments, options: options)]
        sections += command.discussion.map { TextLayout.wrapped($0, width: width).joined(separator: "\n") }
        if !arguments.isEmpty { sections.append(section("Arguments", arguments.map { ($0.spelling, $0.help) })) }
        sections.append(section("Options", sorted.map { ($0.spelling, help(of: $0)) }))
        if let members {
            let rows = members.members.map { ((path + [$0.name]).joined(separator: " "), $0.summary) }
            sections.append(section("Commands", rows))
        }
        if !command.examples.isEmpty {
            sections.append((["Examples:"] + command.examples.map { "  data-gateway \($0)" }).joined(separator: "\n"))
        }
        return sections.joined(separator: "\n\n")
    }

    /// Returns the page of a group: all its commands.
    package static func of(_ group: CommandGroup, path: [String]) -> String {
        let title = (["data-gateway"] + path).joined(separator: " ")
        var options = [(helpOption.spelling, helpOption.help)]
        if path.isEmpty { options.append(("--version", "Print the version")) }
        var sections = ["\(group.summary).", "Usage: \(title) COMMAND [OPTION]…"]
        if !group.guide.text.isEmpty {
            sections.append(TextLayout.wrapped(group.guide.text, width: width).joined(separator: "\n"))
        }
        if !group.guide.steps.isEmpty {
            let lines = group.guide.steps.map { "  data-gateway \($0)" }
            sections.append((["First steps:"] + lines).joined(separator: "\n"))
        }
        sections += [
            commands(of: group), section("Options", options),
            "'\(title) COMMAND --help' shows the help of a command.",
        ]
        return sections.joined(separator: "\n\n")
    }

    /// Returns the commands of a group, section by section.
    private static func commands(of group: CommandGroup) -> String {
        func rows(_ leaves: [(path: [String], command: any Command.Type)]) -> [(String, String)] {
            leaves.map { ($0.path.joined(separator: " "), $0.command.summary) }
        }
        guard !group.sections.isEmpty else { return section("Commands", rows(group.leaves)) }
        let named = Set(group.sections.flatMap(\.names))
        let rest = group.members.map(\.name).filter { !named.contains($0) }
        return (group.sections + (rest.isEmpty ? [] : [("Other", rest)])).map { title, names in
            section(title, rows(group.leaves.filter { names.contains($0.path[0]) }))
        }.joined(separator: "\n\n")
    }

    private static func usage(_ path: [String], arguments: [ParameterLabel], options: [ParameterLabel]) -> String {
        var words = ["Usage: data-gateway"] + path
        words += arguments.map { argument in
            (argument.isRequired ? argument.spelling : "[\(argument.spelling)]") + (argument.isRepeated ? "…" : "")
        }
        words += options.filter(\.isRequired).map(\.spelling)
        words.append("[OPTION]…")
        return TextLayout.wrapped(words.joined(separator: " "), width: width, indentation: 4).joined(separator: "\n")
    }

    private static func help(of label: ParameterLabel) -> String {
        if label.isRequired { return "\(label.help) (required)" }
        return label.isRepeated ? "\(label.help) (may be repeated)" : label.help
    }

    /// Returns a section of two columns, names and their meanings.
    private static func section(_ title: String, _ rows: [(name: String, help: String)]) -> String {
        let column = 4 + (rows.map(\.name.count).max() ?? 0)
        let lines = rows.flatMap { row in
            let help = TextLayout.wrapped(row.help, width: width - column)
            return help.enumerated().map { index, line in
                let left = index == 0 ? "  \(row.name)" : ""
                return left + String(repeating: " ", count: column - left.count) + line
            }
        }
        return ([title + ":"] + lines).joined(separator: "\n")
    }
}
