import Backup
import Basics
import CommandLineInterface
import FoundationEssentials
import JSON
import Serve

/// `data-gateway backup verify`
struct BackupVerify: Command {
    static let name = "verify"
    static let summary = "Check that an archive can be restored"
    static let discussion = [
        """
        Reads the whole archive, and checks each byte, the database, the keys and the checksum of each object. Exits with 1 \
        if the archive cannot be restored, or lacks the data of objects. Does not connect to a gateway.
        """
    ]

    static var parameters: [Parameter<Self>] {
        [
            .argument("FILE", \.path, "The archive"),
            .passphrase(\.passphrasePath),
            .option(
                "--scratch", "DIR", \.scratch,
                "Keep a copy of the archive's database in this directory meanwhile (default: $TMPDIR)"),
            .flag("--json", \.json, "Print one JSON object"),
        ]
    }

    var path = ""
    var passphrasePath: String?
    var scratch: String?
    var json = false

    func run(in environment: CommandEnvironment) async -> ExitCode {
        var isWhole = false
        let code = await environment.report(asJSON: json) {
            let passphrase = try Passphrase.read(passphrasePath)
            let outcome = try ArchiveError.naming(path) {
                try ArchiveVerification.run(
                    of: path, passphrase: passphrase,
                    scratch: scratch ?? FileManager.default.temporaryDirectory.path,
                    migrations: Program.migrations)
            }
            isWhole = outcome.missing.count + outcome.damaged.count == 0
            return Reply(json: Self.json(outcome), text: text(outcome).joined(separator: "\n"))
        }
        return code == .success && !isWhole ? .refused : code
    }

    private static func json(_ outcome: ArchiveVerification.Outcome) -> JSONValue {
        .object([
            .init(name: "created_at", value: .string(outcome.createdAt)),
            .init(name: "objects", value: .number(Int64(outcome.objects))),
            .init(name: "has_objects", value: .bool(outcome.hasObjects)),
            .init(name: "size_bytes", value: .number(outcome.bytes)),
            // Stays for one release.
            .init(name: "bytes", value: .number(outcome.bytes)),
            .init(name: "missing", value: outcome.missing.json),
            .init(name: "damaged", value: outcome.damaged.json),
        ])
    }

    private func text(_ outcome: ArchiveVerification.Outcome) -> [String] {
        let objects = TextLayout.count(outcome.objects, "object")
        let contents = outcome.hasObjects ? "\(ByteCount.text(outcome.bytes)) of data" : "without object data"
        return ["\(path): intact, the backup of \(outcome.createdAt), \(objects), \(contents)"]
            + outcome.missing.lines("missing (the store had no data when the backup was made)")
            + outcome.damaged.lines(
                "damaged (when the backup was made, the data did not match its checksum or could not be read)")
    }
}
