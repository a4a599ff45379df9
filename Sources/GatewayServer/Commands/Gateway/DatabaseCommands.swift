import Backup
import Basics
import CommandLineInterface
import Configuration
import Database
import JSON
import Serve

/// `data-gateway database copy`
struct DatabaseCopyCommand: Command {
    static let name = "copy"
    static let summary = "Copy the database of a stopped gateway to a PostgreSQL server, or back"
    static let discussion = [
        """
        One of the two places is the gateway's data directory, the other one the URL of a server. Stop the gateway first. The copy to \
        a server fills a schema that has no tables yet, in one transaction; gateway.db gets another name afterwards. The copy \
        to a directory needs the one that was used with the server, because it has the keys. All rows are compared. Repeat a \
        command that was interrupted.
        """,
        """
        Then set database.url, or remove it, and start the gateway. The objects stay where they are.
        """,
    ]
    static let examples = [
        "database copy --from ./data --to postgresql://gateway@db/gateway",
        "database copy --from postgresql://gateway@db/gateway --to ./data",
    ]

    static var parameters: [Parameter<Self>] {
        [
            .option("--from", "PLACE", \.source, "The data directory or URL that has the database", isRequired: true),
            .option("--to", "PLACE", \.target, "The URL or data directory that gets it", isRequired: true),
            .option("--schema", "NAME", \.schema, "The schema on the server (default: data_gateway)"),
            .option(
                "--password-file", "FILE", \.passwordFile,
                "Read the password for the server from the first line of this file"),
            .option("--authorities", "FILE", \.authorities, "The authorities for the server's certificate, as PEM"),
            .option("--certificate", "FILE", \.certificate, "The program's certificate for the server, as PEM"),
            .option("--key", "FILE", \.key, "The private key of the certificate, as PEM"),
            .flag("--json", \.json, "Print one JSON object"),
        ]
    }

    var source = ""
    var target = ""
    var schema: String?
    var passwordFile: String?
    var authorities: String?
    var certificate: String?
    var key: String?
    var json = false

    func run(in environment: CommandEnvironment) async -> ExitCode {
        await environment.report(asJSON: json) {
            let isToServer = Self.isURL(target)
            guard isToServer != Self.isURL(source) else {
                throw DataDirectory.Problem(
                    description:
                        "--from or --to must be the URL of a server (postgresql://…), and the other one a data directory"
                )
            }
            let server = try server(at: isToServer ? target : source)
            let outcome =
                if isToServer {
                    try DatabaseTransfer.copy(
                        directory: source, to: server, Program.migrations, now: environment.clock.now())
                } else {
                    try await DatabaseTransfer.copy(server, toDirectory: target, Program.migrations)
                }
            return reply(outcome, isToServer ? server.place : target)
        }
    }

    private static func isURL(_ place: String) -> Bool {
        place.hasPrefix("postgresql://") || place.hasPrefix("postgres://")
    }

    private func server(at url: String) throws -> PostgresServer {
        if let problem = PostgresServer.problem(of: url) {
            throw DataDirectory.Problem(description: "the URL of the server is refused: it \(problem)")
        }
        var server = PostgresServer(url: url, schema: schema ?? PostgresServer.defaultSchema)
        server.passwordFile = passwordFile
        server.tls.authorities = authorities
        server.tls.certificate = certificate
        server.tls.key = key
        return server
    }

    private func reply(_ outcome: DatabaseTransfer.Outcome, _ place: String) -> Reply {
        var lines = [
            "\(place): \(TextLayout.count(outcome.rows.rows, "row")) in \(TextLayout.count(outcome.rows.tables, "table")), compared"
                + (outcome.rows.isNew ? "" : "; an earlier copy had them")
        ]
        if let kept = outcome.keptFile { lines.append("the previous database: \(kept)") }
        return Reply(
            json: .object([
                .init(name: "place", value: .string(place)),
                .init(name: "tables", value: .number(Int64(outcome.rows.tables))),
                .init(name: "rows", value: .number(Int64(outcome.rows.rows))),
                .init(name: "kept_file", value: outcome.keptFile.map { .string($0) } ?? .null),
            ]), text: lines.joined(separator: "\n"))
    }
}

/// `data-gateway database migrate`
struct DatabaseMigrate: Command {
    static let name = "migrate"
    static let summary = "Change the tables on a PostgreSQL server to those of this version"
    static let discussion = [
        """
        A gateway does the same when it starts. Use the command before the start if that would take long: a gateway of the \
        version before may run meanwhile. If one of the changes is not for that version, the command is refused \
        and changes nothing. Run it again if it was interrupted.
        """
    ]
    static let examples = ["database migrate --config gateway.json5"]

    static var parameters: [Parameter<Self>] {
        [
            .option(
                "--config", "FILE", \.options.configurationPath, "The gateway's configuration file, with database.url",
                isRequired: true),
            .flag("--json", \.json, "Print one JSON object"),
        ]
    }

    var options = ServeOptions()
    var json = false

    func run(in environment: CommandEnvironment) async -> ExitCode {
        await environment.report(asJSON: json) {
            let configuration = try Configuration(options, apps: Program.apps, variables: environment.variables)
            guard let server = configuration.database.server else {
                throw DataDirectory.Problem(
                    description:
                        "the configuration has no database.url: a gateway brings its file to its version when it starts"
                )
            }
            let applied = try server.migrate(GatewayModules.databaseMigrations(configuration))
            let state = applied.isEmpty ? "is current" : "has now \(applied.joined(separator: ", "))"
            return Reply(
                json: .object([
                    .init(name: "place", value: .string(server.place)),
                    .init(name: "applied", value: .array(applied.map { .string($0) })),
                ]), text: "\(server.place) \(state)")
        }
    }
}
