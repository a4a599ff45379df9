import Backup
import Basics
import CommandLineInterface
import Foundation
import Serve
import Uploads

/// `data-gateway doctor`
struct DoctorCommand: Command {
    static let name = "doctor"
    static let summary = "Look at the data directory of a stopped gateway, and mend it when asked"
    static let discussion = [
        """
        Checks the database, and whether it and the store agree. Without --settle, --take-in and --delete it changes \
        nothing. Exits with 0 where all is in order, with 1 where something is to be done. Run it as the user that the \
        gateway runs as.
        """
    ]

    static var parameters: [Parameter<Self>] {
        [
            .option("--data-dir", "DIR", \.directory, "The data directory", isRequired: true),
            .flag("--checksums", \.checksums, "Read every object, and compare its CRC-64 with the one that was stored"),
            .flag(
                "--settle", \.settles,
                """
                Have a store and an older database go together again: what the database does not know goes into \
                quarantine
                """),
            .repeated(
                "--take-in", "FILE_ID", \.taken,
                "List a completed upload again that the database does not know, or 'all'"),
            .repeated("--delete", "FILE_ID", \.deleted, "Remove a file in quarantine, for good"),
            .flag("--json", \.json, "Print one JSON object"),
        ]
    }

    var directory = ""
    var checksums = false
    var settles = false
    var taken: [String] = []
    var deleted: [String] = []
    var json = false

    func run(in environment: CommandEnvironment) async -> ExitCode {
        var isInOrder = false
        let code = await environment.report(asJSON: json) {
            let doctor = Doctor(try DataDirectory.openForRepair(directory), migrations: GatewayModules.migrations)
            let treatment = try treat(doctor, at: environment.clock.now())
            let report = try doctor.examine(checksums: checksums)
            isInOrder = report.isInOrder && treatment.problems.isEmpty
            return DoctorReply(report, treatment).reply
        }
        return code == .success && !isInOrder ? .refused : code
    }

    private func treat(_ doctor: Doctor, at now: UnixTime) throws -> DoctorReply.Treatment {
        var treatment = DoctorReply.Treatment()
        if settles { treatment.quarantined = try doctor.settle() }
        if !taken.isEmpty {
            treatment.taken = try doctor.readopt(taken.contains("all") ? nil : Set(taken), at: now)
        }
        if !deleted.isEmpty { treatment.deleted = try doctor.delete(Set(deleted)) }
        return treatment
    }
}
