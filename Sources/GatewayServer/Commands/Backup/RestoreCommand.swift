import Backup
import Basics
import CommandLineInterface
import Configuration
import Database
import DeviceCommands
import JSON
import Serve

/// `data-gateway restore`
struct RestoreCommand: Command {
    static let name = "restore"
    static let summary = "Restore a backup into a data directory"
    static let discussion = [
        """
        DIR is a new or empty folder, or the data directory of the stopped gateway that the archive is from. In the latter \
        case, the store's objects stay: objects that are not in the archive move to quarantine, where 'data-gateway doctor' \
        lists and re-adopts them. Nothing is deleted. The previous database and keys are kept in \
        DIR/replaced-TIME.
        """,
        """
        The whole archive is checked before anything is put in place. After a crash, run the command again; until then, \
        'serve' refuses the folder.
        """,
        """
        With --config and a database on a server, the database is copied there in the end, into a schema that must have no tables.
        """,
    ]

    static var parameters: [Parameter<Self>] {
        [
            .option("--from", "FILE", \.path, "Read the archive from this file", isRequired: true),
            .option("--data-dir", "DIR", \.directory, "Restore into this data directory", isRequired: true),
            .passphrase(\.passphrasePath),
            .flag(
                "--keep-bucket", \.keepsBucket,
                "Restore the database and the keys only, into an empty folder: the objects keep their bytes in a bucket"
            ),
            .option(
                "--config", "FILE", \.options.configurationPath,
                "The configuration file of a gateway with its database on a server"),
            .flag("--json", \.json, "Print one JSON object"),
        ]
    }

    var path = ""
    var directory = ""
    var options = ServeOptions()
    var passphrasePath: String?
    var keepsBucket = false
    var json = false

    func run(in environment: CommandEnvironment) async -> ExitCode {
        await environment.report(asJSON: json) {
            let passphrase = try Passphrase.read(passphrasePath)
            let server = try server(environment)
            if let server { try StoppedServer.requireNoTables(server, Program.migrations) }
            let outcome = try ArchiveError.naming(path) {
                try Restore.run(
                    from: path, passphrase: passphrase,
                    into: .init(directory, keepsBucket: keepsBucket, usedWith: server?.place),
                    migrations: Program.migrations, now: environment.clock.now())
            }
            return reply(outcome, try server.map { try copyDatabase(to: $0, environment) })
        }
    }

    /// Returns the server for the database; `nil` = it stays in the data directory.
    private func server(_ environment: CommandEnvironment) throws -> PostgresServer? {
        guard options.configurationPath != nil else { return nil }
        var options = options
        options.dataDirectory = directory
        return try Configuration(options, apps: Program.apps, variables: environment.variables).database.server
    }

    /// Copies the restored database to the server.
    ///
    /// - Returns: the server for people.
    private func copyDatabase(to server: PostgresServer, _ environment: CommandEnvironment) throws -> String {
        do {
            _ = try DatabaseTransfer.copy(
                directory: directory, to: server, Program.migrations, now: environment.clock.now())
        } catch {
            throw ClientFailure(
                """
                \(directory) has the restored database, which was not copied to the server: \(error). Continue with \
                'data-gateway database copy --from \(directory) --to URL --schema \(server.schema)'
                """)
        }
        return server.place
    }

    private func reply(_ outcome: Restore.Outcome, _ place: String?) -> Reply {
        let replaced = outcome.replaced.map { JSONValue.string($0) } ?? .null
        return Reply(
            json: .object([
                .init(name: "created_at", value: .string(outcome.createdAt)),
                .init(name: "objects", value: .number(Int64(outcome.objects))),
                .init(name: "already_there", value: .number(Int64(outcome.found))),
                .init(name: "missing", value: outcome.missing.json),
                .init(name: "damaged", value: outcome.damaged.json),
                .init(name: "quarantined", value: .number(Int64(outcome.quarantined))),
                .init(name: "displaced", value: .number(Int64(outcome.displaced))),
                .init(name: "replaced", value: replaced),
                .init(name: "database", value: place.map { .string($0) } ?? .null),
            ]), text: (text(outcome) + (place.map { ["the database: \($0)"] } ?? [])).joined(separator: "\n"))
    }

    private func text(_ outcome: Restore.Outcome) -> [String] {
        let objects = TextLayout.count(outcome.objects, "object")
        var lines = ["\(directory): the backup of \(outcome.createdAt), \(objects)"]
        if keepsBucket {
            lines.append(
                """
                the objects stay in the bucket, and nothing is removed from it until 'data-gateway doctor --objects --data-dir \
                \(directory) --config FILE --readopt all' has compared both
                """)
        } else if outcome.found > 0 {
            lines.append("already there: \(outcome.found)")
        }
        lines += outcome.missing.lines("missing (the store had no data when the backup was made)")
        lines += outcome.damaged.lines(
            "damaged (when the backup was made, the data did not match its checksum or could not be read; left out)")
        if let replaced = outcome.replaced { lines.append("previous database and keys: \(replaced)") }
        if outcome.quarantined > 0 {
            lines.append(
                """
                moved to quarantine: \(TextLayout.count(outcome.quarantined, "file")) that the database does not have; \
                'data-gateway doctor --data-dir \(directory)' lists them, '--readopt all' re-adopts them
                """)
        }
        if outcome.displaced > 0 {
            lines.append(
                """
                moved to quarantine: \(TextLayout.count(outcome.displaced, "damaged file")) that the backup replaced
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

    /// Returns a line with the number, and one for each listed name; none if the number is 0.
    func lines(_ title: String) -> [String] {
        guard count > 0 else { return [] }
        return ["\(title): \(count)"] + first.map { "  \($0)" } + (count > first.count ? ["  …"] : [])
    }
}
