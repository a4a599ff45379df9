import Accounts
import Backup
import Basics
import CommandLineInterface
import Configuration
import Crypto
import JSON
import Serve

/// `data-gateway cluster init`
struct ClusterInit: Command {
    static let name = "init"
    static let summary = "Create what several gateways need in a new database on a PostgreSQL server"
    static let discussion = [
        """
        Makes the tables in database.schema, the root key in database.root_key_file, and the user admin of the organization system. \
        Copy the root key to each further gateway, and keep a copy in a safe place: the database cannot be used without it. A \
        repetition changes nothing and reports that; a command that was interrupted is continued by a repetition.
        """,
        """
        The password of admin is the first line of --password-file, or the value of DATA_GATEWAY_ADMIN_PASSWORD. A password file that \
        does not exist is made with a random password.
        """,
    ]
    static let examples = ["cluster init --config gateway.json5 --password-file password"]

    static var parameters: [Parameter<Self>] {
        [
            .option(
                "--config", "FILE", \.options.configurationPath,
                "The gateway's configuration file, with database.url and database.root_key_file"),
            .option("--password-file", "FILE", \.passwordFile, "The file with the password of the first administrator"),
            .flag("--json", \.json, "Print one JSON object"),
        ]
    }

    var options = ServeOptions()
    var passwordFile: String?
    var json = false

    func run(in environment: CommandEnvironment) async -> ExitCode {
        await environment.report(asJSON: json) {
            let configuration = try Configuration(options, apps: Program.apps, variables: environment.variables)
            let (password, isMade) = try password(environment)
            // The password belongs to nobody then.
            func discard() throws { if isMade, let passwordFile { try PrivateFile.remove(passwordFile) } }
            do {
                let outcome = try await ClusterInitialization.run(configuration, password: password)
                if !outcome.isNew { try discard() }
                return reply(outcome)
            } catch  where error is FirstAdminError || error is DataDirectory.Problem {
                try discard()
                throw error
            }
        }
    }

    /// Returns the first administrator's password, and whether its file was made. The file is durable before the account exists.
    private func password(_ environment: CommandEnvironment) throws -> (Secret, isMade: Bool) {
        guard let passwordFile else {
            if let given = environment.variables["DATA_GATEWAY_ADMIN_PASSWORD"] { return (Secret(given), false) }
            throw ClientFailure(
                "name a file for the first administrator's password with --password-file", exitCode: .usage)
        }
        let random = Base64.encodeURL(Random.bytes(18))
        if try PrivateFile.writeNew(Array("\(random)\n".utf8), to: passwordFile) { return (Secret(random), true) }
        guard let given = Secret(firstLineOf: try PrivateFile.contents(of: passwordFile), least: 8) else {
            throw ClientFailure(
                "the first line of \(passwordFile) must be a password of at least 8 bytes", exitCode: .usage)
        }
        return (given, false)
    }

    private func reply(_ outcome: ClusterInitialization.Outcome) -> Reply {
        let password = passwordFile ?? "DATA_GATEWAY_ADMIN_PASSWORD"
        let lines =
            [
                outcome.isNew
                    ? "\(outcome.place): ready for gateways"
                    : "\(outcome.place): was prepared before, nothing was changed",
                "root key: \(outcome.rootKeyFile), fingerprint \(outcome.fingerprint)",
            ] + (outcome.isNew ? ["administrator: admin of system, password in \(password)"] : [])
        return Reply(
            json: .object([
                .init(name: "place", value: .string(outcome.place)),
                .init(name: "is_new", value: .bool(outcome.isNew)),
                .init(name: "root_key_file", value: .string(outcome.rootKeyFile)),
                .init(name: "root_key_fingerprint", value: .string(outcome.fingerprint)),
            ]), text: lines.joined(separator: "\n"))
    }
}
