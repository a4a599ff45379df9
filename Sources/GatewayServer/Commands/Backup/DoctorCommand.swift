import Backup
import Basics
import CommandLineInterface
import Doctor
import Serve
import Uploads

/// `data-gateway doctor`
struct DoctorCommand: Command {
    static let name = "doctor"
    static let summary = "Check the data directory of a stopped gateway, and repair it on request"
    static let discussion = [
        """
        Checks the database and compares it with the store. Changes nothing without --reconcile, --readopt, --delete or \
        --accept-root-key. Exits with 0 if everything is in order, with 1 if something needs attention. Run it as the user \
        that the gateway runs as.
        """
    ]

    static var parameters: [Parameter<Self>] {
        [
            .option("--data-dir", "DIR", \.directory, "Check this data directory", isRequired: true),
            .flag("--checksums", \.checksums, "Read every object and compare its CRC-64 with the stored one"),
            .flag(
                "--reconcile", \.reconciles,
                """
                Make a store match an older database: move files that the database does not have to quarantine
                """
            ).formerly("--settle"),
            .repeated(
                "--readopt", "FILE_ID", \.readopted,
                """
                List a quarantined or unlisted file as an object again; 'all' = every such file whose deletion is not \
                recorded
                """
            ).formerly("--take-in"),
            .repeated("--delete", "FILE_ID", \.deleted, "Delete a file in quarantine permanently"),
            .flag(
                "--accept-root-key", \.acceptsRootKey,
                "Use the database with another root key than before; every device then needs a new key"),
            .flag("--json", \.json, "Print one JSON object"),
        ]
    }

    var directory = ""
    var checksums = false
    var reconciles = false
    var readopted: [String] = []
    var deleted: [String] = []
    var acceptsRootKey = false
    var json = false

    func run(in environment: CommandEnvironment) async -> ExitCode {
        var isInOrder = false
        let code = await environment.report(asJSON: json) {
            let doctor = Doctor(try DataDirectory.openForRepair(directory), migrations: Program.migrations)
            let treatment = try treat(doctor, at: environment.clock.now())
            let report = try doctor.examine(checksums: checksums)
            isInOrder = report.isInOrder && treatment.problems.isEmpty
            return DoctorReply(report, treatment).reply
        }
        return code == .success && !isInOrder ? .refused : code
    }

    private func treat(_ doctor: Doctor, at now: UnixTime) throws -> DoctorReply.Treatment {
        var treatment = DoctorReply.Treatment()
        if acceptsRootKey {
            try doctor.acceptRootKey()
            treatment.acceptsRootKey = true
        }
        if reconciles { treatment.quarantined = try doctor.reconcile() }
        if !readopted.isEmpty {
            treatment.readopted = try doctor.readopt(readopted.contains("all") ? nil : Set(readopted), at: now)
        }
        if !deleted.isEmpty { treatment.deleted = try doctor.delete(Set(deleted)) }
        return treatment
    }
}
