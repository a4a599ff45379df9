import Basics
import Capability
import Configuration
import Observability
import Synchronization
import TestSupport
import Testing

@testable import CommandLineInterface
@testable import Commands

/// The environment of a test's commands: without variables, and with recorded output.
final class Recorder: Sendable {
    private let lines = Lock((output: [String](), errors: [String]()))

    var output: String { lines.withLock { $0.output.joined(separator: "\n") } }
    var errors: String { lines.withLock { $0.errors.joined(separator: "\n") } }

    func environment(_ variables: [String: String] = [:]) -> CommandEnvironment {
        CommandEnvironment(
            variables: variables, clock: ManualClock(),
            output: { [self] line in lines.withLock { $0.output.append(line) } },
            errorOutput: { [self] line in lines.withLock { $0.errors.append(line) } })
    }

    func run(_ line: String, _ variables: [String: String] = [:]) async -> ExitCode {
        await Program.run(line.split(separator: " ").map(String.init), in: environment(variables))
    }
}

@Suite(.timeLimited) struct ProgramTests {
    private static let leaves = Program.commands.leaves.map { $0.path.joined(separator: " ") }

    @Test(arguments: [
        ("get drive.mcap", "download drive.mcap"), ("delete x", "rm x"), ("list", "ls"),
        ("cat x", "object cat x"), ("find x", "object find x"), ("du", "object du"), ("share x", "object share x"),
        ("stat x", "object show x"), ("device ls", "device list"), ("site rm 1", "site delete 1"),
        ("site add x", "site create x"), ("device add", "device register"), ("user get alice", "user show alice"),
        ("device suite ls", "device suite list"), ("copy ls", "copy list"), ("token rm x", "token revoke x"),
    ])
    func wordOfAnotherToolRunsTheCommand(word: String, command: String) throws {
        func performed(_ line: String) throws -> String? {
            guard case .perform(let command) = try Program.request(line.split(separator: " ").map(String.init)) else {
                return nil
            }
            return "\(type(of: command))"
        }
        #expect(try performed(word) == performed(command))
        #expect(try performed(word) != nil)
    }

    @Test(arguments: [
        ("sync x", "unknown command sync; use upload or download"),
        ("cp a b", "unknown command cp; use upload, download or copy create"),
        ("mv a b", "unknown command mv; an object keeps its name: use object tag"),
        ("trash delete x", "trash has no command delete; use trash purge"),
        ("uploads rm x", "uploads has no command rm; use uploads abort"),
        ("object ls", "object has no command ls; use ls"),
        ("object download x", "object has no command download; use download"),
        ("context rm x", "context has no command rm; a context ends when its file contexts/NAME.json is deleted"),
    ])
    func wordWithoutItsOwnCommandGetsAHint(line: String, message: String) {
        let error = #expect(throws: UsageError.self) {
            try Program.request(line.split(separator: " ").map(String.init))
        }
        #expect(error?.message == message)
    }

    @Test func hintsNameOnlyCommandsThatExist() {
        for hint in CommandSynonyms.hints {
            #expect(hint.commands.allSatisfy(Self.leaves.contains), "\(hint.words)")
        }
    }

    @Test(arguments: [("get", ""), ("x", ""), ("agnet", "; did you mean agent?"), ("iniit", "; did you mean init?")])
    func suggestionIsNearInProportionToTheWord(word: String, suggestion: String) {
        #expect(Suggestion.text(for: word, among: ["init", "upload", "agent"]) == suggestion)
    }

    @Test func wordsOfOtherToolsAreHiddenButSuggested() {
        #expect(Set(["get", "cat", "find", "share", "stat"]).isDisjoint(with: Program.commands.members.map(\.name)))
        let error = #expect(throws: UsageError.self) { try Program.request(["delte", "x"]) }
        #expect(error?.message.contains("did you mean delete?") == true)
    }

    @Test func programHasTheCommandsOfTheContract() {
        let expected = [
            "serve", "login", "logout", "site create", "site list", "device suite create", "device suite list",
            "device suite add", "device suite remove",
            "device register", "device list", "device show", "device update", "device enable", "device disable",
            "user create", "user list", "init", "upload", "ls", "download",
        ]
        #expect(expected.allSatisfy(Self.leaves.contains))
        #expect(Set(Self.leaves).count == Self.leaves.count)
    }

    @Test(arguments: Self.leaves + ["", "site", "device", "device suite", "user"])
    func everyCommandHasItsHelp(path: String) async {
        let page = Recorder()
        #expect(await page.run("\(path) --help") == .success)
        #expect(page.errors.isEmpty)
        #expect(page.output.contains("Usage: data-gateway \(path)"))
        #expect(page.output.contains("  --help"))
        #expect(page.output.split(separator: "\n").allSatisfy { $0.count <= 80 && $0.last != " " })
        let same = Recorder()
        #expect(await same.run("help \(path)") == .success)
        #expect(same.output == page.output)
    }

    @Test func helpListsEveryParameter() {
        for (path, command) in Program.commands.leaves {
            let page = page(command, path)
            for label in labels(command) { #expect(page.contains("  \(label.spelling) "), "\(path)") }
        }
    }

    private func page<C: Command>(_ command: C.Type, _ path: [String]) -> String { HelpText.of(command, path: path) }

    private func labels<C: Command>(_ command: C.Type) -> [ParameterLabel] { command.parameters.map(\.label) }

    @Test func everyCommandHasExamplesThatAreValid() throws {
        for (path, command) in Program.commands.leaves {
            let examples = examples(command)
            #expect(!examples.isEmpty, "\(path) has no example")
            for example in examples {
                guard case .perform(let found) = try Program.request(ShellWords.split(example)) else {
                    Issue.record("\(example) is no command line")
                    continue
                }
                #expect(type(of: found) == command, "\(example)")
            }
        }
    }

    @Test(arguments: [Program.commands] + Program.commands.members.compactMap(\.group))
    func firstStepsAreValid(group: CommandGroup) throws {
        for step in group.guide.steps {
            guard case .perform = try Program.request(ShellWords.split(step)) else {
                Issue.record("\(step) is no command line")
                continue
            }
        }
    }

    @Test func firstStepsBeginTheHelp() async {
        let page = Recorder()
        #expect(await page.run("--help") == .success)
        #expect(page.output.contains("First steps:\n  data-gateway serve --data-dir ./data\n"))
        #expect(!Program.commands.guide.steps.isEmpty)
    }

    @Test(arguments: [("login", ["login"]), ("context add x", ["context", "add"]), ("upload", ["upload"])])
    func usageErrorOfACommandNamesItsHelp(line: String, path: [String]) async {
        let recorder = Recorder()
        #expect(await recorder.run(line, ["HOME": "/nonexistent"]) == .usage)
        #expect(recorder.errors.hasSuffix("\nTry: data-gateway \(path.joined(separator: " ")) --help"))
        let json = Recorder()
        #expect(await json.run(line + " --json", ["HOME": "/nonexistent"]) == .usage)
        #expect(!json.errors.contains("Try:"))
    }

    private func examples<C: Command>(_ command: C.Type) -> [String] { command.examples }

    @Test func everyClientCommandTakesTheCommonOptions() {
        for (path, command) in Program.commands.leaves where command is any ClientCommand.Type {
            let names = labels(command).map(\.name)
            #expect(["--server", "--organization", "--json"].allSatisfy(names.contains), "\(path)")
        }
    }

    @Test func everyCommandRefusesAnEmptyArgumentItself() async {
        var count = 0
        for (path, command) in Program.commands.leaves {
            guard let first = labels(command).first(where: { $0.kind == .argument }), first.isRequired else { continue }
            let recorder = Recorder()
            #expect(await Program.run(path + [""], in: recorder.environment()) == .usage, "\(path)")
            #expect(recorder.errors.contains("\(first.name) must not be empty"), "\(path): \(recorder.errors)")
            count += 1
        }
        #expect(count > 40)
    }

    @Test(arguments: ["object retention set -5", "trash set -5", "trash set 1.5"])
    func numberOfDaysIsExplained(line: String) async {
        let recorder = Recorder()
        #expect(await recorder.run(line) == .usage)
        let value = line.split(separator: " ").last ?? ""
        #expect(recorder.errors.contains("DAYS must be a number of days, 0 or more, not '\(value)'"))
    }

    @Test func parameterNamesAreUniqueAndArgumentsThatMayBeMissingComeLast() {
        for (path, command) in Program.commands.leaves {
            let labels = labels(command)
            #expect(Set(labels.map(\.name)).count == labels.count, "\(path)")
            let arguments = labels.filter { $0.kind == .argument }.map(\.isRequired)
            #expect(arguments == arguments.sorted { $0 && !$1 }, "\(path)")
        }
    }

    @Test(arguments: [
        (["upload", "--afresh", "--patience", "5"], ["upload", "--restart", "--retry-for", "5"]),
        (
            ["doctor", "--data-dir", "d", "--settle", "--take-in", "all"],
            ["doctor", "--data-dir", "d", "--reconcile", "--readopt", "all"]
        ),
        (["object", "list-bad"], ["object", "list-corrupted"]),
    ])
    func formerSpellingsAreAcceptedAndNotShown(former: [String], current: [String]) throws {
        guard case .perform(let old) = try Program.request(former),
            case .perform(let new) = try Program.request(current)
        else {
            Issue.record("the command was not found")
            return
        }
        #expect("\(old)" == "\(new)")
        guard case .print(let page) = try Program.request(current + ["--help"]),
            case .print(let group) = try Program.request(["help", current[0]])
        else {
            Issue.record("the help was not found")
            return
        }
        for word in former where !current.contains(word) {
            #expect(!page.contains(word) && !group.contains(word), "\(word)")
        }
    }

    @Test func helpIsNotTakenFromBehindTheOptions() async {
        #expect(await Recorder().run("site create -- --help") == .refused)
    }

    @Test func outputThatCannotBeWrittenIsNoSuccess() async {
        let recorder = Recorder()
        var environment = recorder.environment()
        environment.output = { (_) throws(ClientFailure) in throw ClientFailure("the disk is full") }
        #expect(await Program.run(["--help"], in: environment) == .refused)
        #expect(recorder.errors == "data-gateway: the disk is full")
    }

    @Test func versionOptionPrintsTheVersion() async {
        let recorder = Recorder()
        #expect(await recorder.run("--version") == .success)
        #expect(recorder.output == "data-gateway \(ProgramVersion.current)")
    }

    @Test(arguments: [
        (
            "",
            "a command is required: serve, login, logout, whoami, quickstart, context, account, session, token, init, upload, agent, ls, download, rm, site, device, "
                + "user, identity, key, org, object, uploads, trash, copy, objects, config, database, cluster, clock, keys, "
                + "events, status, audit, statistics, storage, backup, restore, doctor, "
                + "support-bundle, completion, version",
            "data-gateway --help"
        ),
        (
            "device suite",
            "device suite requires a command: create, list, show, rename, set-silent-after, add, remove, delete",
            "device suite --help"
        ),
        ("devcie list", "unknown command devcie; did you mean device?", "data-gateway --help"),
        ("device regsiter", "device has no command regsiter; did you mean register?", "data-gateway device --help"),
        ("--verison", "unknown option --verison; did you mean --version?", "data-gateway --help"),
        ("help nonsense", "unknown command nonsense", "data-gateway --help"),
        ("device show", "device show requires DEVICE_ID", "data-gateway device show --help"),
        ("device list --suit s", "device list has no option --suit; did you mean --suite?", "device list --help"),
        ("serve", "serve requires --data-dir DIR", "data-gateway serve --help"),
    ])
    func usageErrorExplainsAndPointsToHelp(line: String, message: String, hint: String) async {
        let recorder = Recorder()
        #expect(await recorder.run(line) == .usage)
        #expect(recorder.output.isEmpty)
        #expect(recorder.errors.hasPrefix("data-gateway: \(message)\nTry: "))
        #expect(recorder.errors.hasSuffix(hint))
    }

    @Test func serveKnowsEveryListener() throws {
        guard
            case .perform(let command) = try Program.request(
                ["serve", "--data-dir", "d", "--config=c"]
                    + ListenerName.allCases.flatMap { ["--\($0.rawValue)-listen", "[::1]:7"] }),
            let serve = command as? ServeCommand
        else {
            Issue.record("serve is no command")
            return
        }
        #expect(serve.options.dataDirectory == "d")
        #expect(serve.options.configurationPath == "c")
        #expect(serve.options.listen.count == ListenerName.allCases.count)
        #expect(serve.options.listen.values.allSatisfy { $0 == "[::1]:7" })
    }
}

extension CommandNode {
    fileprivate var group: CommandGroup? {
        if case .group(let group) = self { group } else { nil }
    }
}

/// The words of a command line, split like in a shell, with single quotation marks.
private enum ShellWords {
    static func split(_ line: String) -> [String] {
        line.split(separator: "'", omittingEmptySubsequences: false).enumerated().flatMap { index, piece in
            index % 2 == 1 ? [String(piece)] : piece.split(separator: " ").map(String.init)
        }
    }
}
