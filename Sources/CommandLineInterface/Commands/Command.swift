import Basics
import JSON

/// A command of `data-gateway`: one type in one file, and one line in `Program.commands`.
///
/// A command is a value whose properties hold what the command line said; `parameters` ties them to their spelling:
///
///     struct SiteCreate: ClientCommand {
///         static let name = "create"
///         static let summary = "Create a site"
///         static var parameters: [Parameter<Self>] {
///             [.argument("NAME", \.siteName, "What people call the site")] + connectionParameters
///         }
///         var siteName = ""
///         …
package protocol Command: Sendable {
    /// The last word of its path, e.g. `create` for `site create`.
    static var name: String { get }
    /// An earlier name, which is accepted for one release and not shown; default: none.
    static var formerName: String? { get }
    /// The command's purpose: one line that begins with a verb, without a full stop.
    static var summary: String { get }
    /// Further paragraphs of the help; default: none.
    static var discussion: [String] { get }
    /// Example command lines without the program's name; default: one with the required parameters.
    static var examples: [String] { get }
    /// Arguments in the order of the command line, options in the order of the help.
    static var parameters: [Parameter<Self>] { get }

    /// A command with the default of every property.
    init()

    func run(in environment: CommandEnvironment) async -> ExitCode
}

extension Command {
    package static var discussion: [String] { [] }
    package static var formerName: String? { nil }
    package static var examples: [String] { [] }
}

/// `data-gateway version`
package struct Version: Command {
    package static let name = "version"
    package static let summary = "Print the version"

    package static let examples = ["version"]

    package static var parameters: [Parameter<Self>] { [.flag("--json", \.json, "Print one JSON object")] }

    var json = false

    package init() {}

    package func run(in environment: CommandEnvironment) async -> ExitCode {
        await environment.report(asJSON: json) {
            Reply(
                json: .object([JSONValue.Member(name: "version", value: .string(ProgramVersion.current))]),
                text: "data-gateway \(ProgramVersion.current)")
        }
    }
}
