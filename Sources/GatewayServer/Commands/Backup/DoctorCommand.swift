import Backup
import Basics
import CommandLineInterface
import Configuration
import Doctor
import Observability
import Serve
import Uploads

/// `data-gateway doctor`
struct DoctorCommand: Command {
    static let name = "doctor"
    static let summary = "Check the data directory of a stopped gateway, and repair it on request"
    static let discussion = [
        """
        Checks the database and compares it with the store. Changes nothing without --reconcile, --readopt, --delete, \
        --recount or --accept-root-key. Exits with 0 if everything is in order, with 1 if something needs attention. Run it as the user \
        that the gateway runs as.
        """
    ]

    static var parameters: [Parameter<Self>] {
        [
            .option("--data-dir", "DIR", \.directory, "Check this data directory", isRequired: true),
            .flag(
                "--objects", \.examinesBucket,
                "Check the objects in the bucket of the configuration, for a gateway with objects.engine s3"),
            .option(
                "--config", "FILE", \.options.configurationPath,
                "The configuration file, for --objects and for a database on a server"),
            .flag(
                "--take-over", \.options.takesOver,
                "Use the prefix of the bucket although a gateway elsewhere that does not renew it has it"),
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
            .flag("--recount", \.recounts, "Replace the numbers of objects by day with those of the objects"),
            .flag(
                "--accept-root-key", \.acceptsRootKey,
                "Use the database with another root key than before; every device then needs a new key"),
            .flag("--json", \.json, "Print one JSON object"),
        ]
    }

    var directory = ""
    var examinesBucket = false
    var options = ServeOptions()
    var checksums = false
    var reconciles = false
    var readopted: [String] = []
    var deleted: [String] = []
    var recounts = false
    var acceptsRootKey = false
    var json = false

    func run(in environment: CommandEnvironment) async -> ExitCode {
        var isInOrder = false
        let code = await environment.report(asJSON: json) {
            // Warnings are written to the log.
            let log = ProcessLog()
            defer { log.flush() }
            let configuration = try configuration(environment, Logger(log))
            let gateway = try StoppedGateway(directory, configuration?.database)
            defer { gateway.close() }
            let bucket = try await openBucket(configuration, gateway, Logger(log))
            let result = Result { () throws -> Reply in
                let doctor = gateway.doctor(bucket: bucket?.objects)
                let treatment = try treat(doctor, at: environment.clock.now())
                let report = try doctor.examine(checksums: checksums)
                isInOrder = report.isInOrder && treatment.problems.isEmpty
                return DoctorReply(report, treatment).reply
            }
            await bucket?.close()
            return try result.get()
        }
        return code == .success && !isInOrder ? .refused : code
    }

    /// Reads the configuration, if it is named or needed.
    private func configuration(_ environment: CommandEnvironment, _ log: Logger) throws -> Configuration? {
        guard examinesBucket || options.configurationPath != nil else { return nil }
        var options = options
        options.dataDirectory = directory
        return try Configuration(options, apps: Program.apps, variables: environment.variables, log: log)
    }

    /// Opens the bucket, if it is to be examined.
    private func openBucket(
        _ configuration: Configuration?, _ gateway: StoppedGateway, _ log: Logger
    ) async throws -> StoppedBucket? {
        guard examinesBucket, let configuration else { return nil }
        return try await StoppedBucket.open(configuration, gateway.directory, server: gateway.server, log)
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
        if recounts {
            try doctor.recount()
            treatment.recounts = true
        }
        return treatment
    }
}
