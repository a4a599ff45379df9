import Basics
import CommandLineInterface
import DeviceClient
import Glibc
import HTTPClient
import RPC

/// `data-gateway upload`
struct Upload: Command {
    static let name = "upload"
    static let summary = "Upload files as a device"
    static let discussion = [
        """
        FILE is a file, a directory with everything below it except symbolic links, a pattern in quotation marks such as 'runs/*.mcap', or - \
        for standard input, with a name from --name. The command sends files in parts. A journal records what the gateway \
        acknowledged, so that the same command continues an interrupted upload. --resume without a FILE continues all \
        unfinished uploads.
        """,
        """
        A file that the gateway has from this device, with the same path and the same bytes, is not sent again. Nor is one \
        that was deleted at the gateway, unless --again is given.
        """,
        """
        With --json, each event is one JSON object on a line: begun, progress, acknowledged, waiting, restarted, skipped, \
        completed, deleted, failed, and links for symbolic links that are left out; with several files also total and \
        summary.
        """,
    ]
    static let examples = [
        "upload drive.mcap --tag weather=rain",
        "upload /data/runs --include '*.mcap' --tag-template run={dir1}",
        "upload --resume",
    ]

    static var parameters: [Parameter<Self>] {
        [
            .arguments("FILE", \.files, "The files, directories and patterns to upload", isRequired: false),
            .repeated(
                "--tag", "KEY=VALUE", \.tags,
                "A tag in addition to the device's tags; a resumed upload keeps its tags"),
            .option("--name", "NAME", \.inputName, "The name of the file that standard input contains"),
            .option(
                "--parallel", "N", \.parallel, "Send this number of parts of each file at once: 1 to 64 (default: 1)"),
            .flag(
                "--resume", \.isResuming,
                "Continue all unfinished uploads, without a FILE; those of files are always continued"),
            .flag("--restart", \.isRestarting, "Abort an earlier upload of the file and start over").formerly(
                "--afresh"),
            .option(
                "--retry-for", "SECONDS", \.retrySeconds,
                "Retry for this number of seconds without progress: 0 to 604800 (default: 300)"
            ).formerly("--patience"),
        ] + TransferOptions.parameters.map { $0.at(\.transfer) }
            + DeviceOptions.parameters(json: "Print each event as a line of JSON").map { $0.at(\.device) }
    }

    private static let usualRetrySeconds: Int64 = 300

    var files: [String] = []
    var tags: [TagArgument] = []
    var inputName: String?
    var parallel: Int64 = 1
    var isResuming = false
    var isRestarting = false
    var retrySeconds = usualRetrySeconds
    var transfer = TransferOptions()
    var device = DeviceOptions()

    func run(in environment: CommandEnvironment) async -> ExitCode {
        let reporter = TransferReporter(environment, asJSON: device.json, isQuiet: transfer.isQuiet)
        return await Interruption.cancelling {
            await reporter.watching { await uploadAll(environment, reporter) }
        }
    }

    private func uploadAll(_ environment: CommandEnvironment, _ reporter: TransferReporter) async -> ExitCode {
        do {
            try check()
            let tags = try tags.dictionary()
            let folder = try device.deviceFolder(environment)
            var options = Uploader.Options()
            options.parallel = Int(parallel)
            options.retries = RetryPolicy(retryDuration: .seconds(retrySeconds))
            // A shorter time than the default is a deadline: the command ends by then, however few attempts that allows.
            if retrySeconds < Self.usualRetrySeconds { options.retries.attempts = 1 }
            options.authorities = environment.authorities
            options.sendLimit = transfer.limit.map { RateLimit(bytesPerSecond: $0.bytes) }
            let templates = try transfer.templates(beside: tags)
            _ = try folder.initializedConfiguration()
            let delivered = try DeliveredFiles(in: folder)
            options.delivered = delivered
            let uploader = try Uploader(folder, options: options, clock: environment.clock) {
                reporter.report($0, of: "")
            }
            var batch = UploadBatch(
                uploader: uploader,
                decisions: files.isEmpty || files == ["-"]
                    ? nil : UploadDecisions(uploader, delivered, sendsDeleted: transfer.sendsDeleted),
                isRestarting: isRestarting, tags: tags, templates: templates, options: transfer, reporter: reporter)
            if files == ["-"] {
                batch.inputName = inputName
                return try await uploadInput(folder, batch)
            }
            let selection =
                files.isEmpty
                ? UploadSelection(exactly: try uploader.unfinished())
                : try UploadSelection(files, transfer.filter, in: folder)
            return try await run(batch, selection, folder, reporter)
        } catch {
            return reporter.fail(ClientFailure(error, file: "upload", hint: "try again later"), "")
        }
    }

    private func run(
        _ batch: UploadBatch, _ selection: UploadSelection, _ folder: DeviceFolder, _ reporter: TransferReporter
    ) async throws -> ExitCode {
        let selected = selection.files
        reporter.reportLeftOut(links: selection.links)
        if transfer.isDryRun { return try await batch.preview(selected, unreadable: selection.unreadable) }
        if selected.isEmpty {
            reporter.line(files.isEmpty ? "there are no unfinished uploads" : "there are no files to upload")
        }
        let code = try await batch.run(selected, unreadable: selection.unreadable)
        InputSpool(folder).remove(selected.map(\.path), besides: try batch.uploader.unfinished())
        return code
    }

    private func check() throws(ClientFailure) {
        func wrong(_ message: String) -> ClientFailure { ClientFailure(message, exitCode: .usage) }
        guard !files.isEmpty || isResuming else { throw wrong("upload requires FILE or --resume") }
        guard !(isResuming && isRestarting) else { throw wrong("--resume and --restart must not both be set") }
        guard (1...64).contains(parallel) else { throw wrong("--parallel must be 1 to 64") }
        guard (1...16).contains(transfer.fileCount) else { throw wrong("--files must be 1 to 16") }
        guard (0...604_800).contains(retrySeconds) else { throw wrong("--retry-for must be 0 to 604800 seconds") }
        guard files.contains("-") else {
            guard inputName == nil else { throw wrong("--name needs the FILE -, which is standard input") }
            return
        }
        guard files == ["-"] else { throw wrong("the FILE - must be the only one") }
        guard let inputName, inputName == Path.name(of: inputName), !["", ".", ".."].contains(inputName) else {
            throw wrong("the FILE - needs --name with the name of a file, without directories")
        }
        guard !isResuming, !isRestarting, !transfer.isDryRun, !transfer.deletesDelivered else {
            throw wrong("--resume, --restart, --dry-run and --delete-after need files, not standard input")
        }
    }

    /// Uploads standard input through a file, so that an interrupted upload can be resumed.
    private func uploadInput(_ folder: DeviceFolder, _ batch: UploadBatch) async throws -> ExitCode {
        let spool = InputSpool(folder)
        let path = try await spool.receive(STDIN_FILENO, name: inputName ?? "")
        let selected = UploadSelection(exactly: [path]).files
        let code = try await batch.run(selected)
        spool.remove([path], besides: try batch.uploader.unfinished())
        return code
    }
}
