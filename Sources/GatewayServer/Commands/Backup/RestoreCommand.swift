import Backup
import Basics
import CommandLineInterface
import Serve

/// `data-gateway restore`
struct RestoreCommand: Command {
    static let name = "restore"
    static let summary = "Make a data directory of a file that 'backup' wrote"
    static let discussion = [
        """
        DIR is a new or empty folder, or the data directory that the archive is of, whose gateway is stopped. There, the \
        store's objects stay: those that the archive does not know go into quarantine, none is removed, and \
        'data-gateway doctor' lists them and takes them in. The database and the keys that were there are kept in \
        DIR/replaced-TIME.
        """,
        """
        Everything is checked before anything is put in place. After a crash, run it again; until then the folder is not \
        served.
        """,
    ]

    static var parameters: [Parameter<Self>] {
        [
            .option("--from", "FILE", \.path, "The archive", isRequired: true),
            .option("--data-dir", "DIR", \.directory, "Where to", isRequired: true),
            .passphrase(\.passphrasePath),
            .flag("--json", \.json, "Print one JSON object"),
        ]
    }

    var path = ""
    var directory = ""
    var passphrasePath: String?
    var json = false

    func run(in environment: CommandEnvironment) async -> ExitCode {
        await environment.report(asJSON: json) {
            let outcome = try Restore.run(
                from: path, passphrase: try Passphrase.read(passphrasePath), into: directory,
                migrations: GatewayModules.migrations, now: environment.clock.now())
            return reply(outcome)
        }
    }

    private func reply(_ outcome: Restore.Outcome) -> Reply {
        let replaced = outcome.replaced.map { JSONValue.string($0) } ?? .null
        return Reply(
            json: .object([
                .init(name: "created_at", value: .string(outcome.createdAt)),
                .init(name: "objects", value: .number(Int64(outcome.objects))),
                .init(name: "already_there", value: .number(Int64(outcome.found))),
                .init(name: "missing", value: outcome.missing.json),
                .init(name: "damaged", value: outcome.damaged.json),
                .init(name: "quarantined", value: .number(Int64(outcome.quarantined))),
                .init(name: "replaced", value: replaced),
            ]), text: text(outcome).joined(separator: "\n"))
    }

    private func text(_ outcome: Restore.Outcome) -> [String] {
        let objects = TextLayout.count(outcome.objects, "object")
        var lines = ["\(directory): the gateway of \(outcome.createdAt), \(objects)"]
        if outcome.found > 0 { lines.append("already there: \(outcome.found)") }
        lines += outcome.missing.lines("missing (the store had no data when the backup was made)")
        lines += outcome.damaged.lines(
            "damaged (when the backup was made, the data was not what was stored or could not be read; left out)")
        if let replaced = outcome.replaced { lines.append("what was there before: \(replaced)") }
        if outcome.quarantined > 0 {
            lines.append(
                """
                in quarantine: \(TextLayout.count(outcome.quarantined, "file")) that this database does not know; \
                'data-gateway doctor --data-dir \(directory)' lists them, '--take-in all' takes them in
                """)
        }
        return lines
    }
}

extension Tally {
    var json: JSONValue {
        .object([
            .init(name: "count", value: .number(Int64(count))),
            .init(name: "file_ids", value: .array(first.map { .string($0) })),
        ])
    }

    /// A line that says how many there are, and one for each that is named; none where there are none.
    func lines(_ title: String) -> [String] {
        guard count > 0 else { return [] }
        return ["\(title): \(count)"] + first.map { "  \($0)" } + (count > first.count ? ["  …"] : [])
    }
}
