import Basics
import CommandLineInterface
import DeviceCommands
import GRPCWire
import JSON

/// `data-gateway download`
struct Download: Command {
    static let name = "download"
    static let summary = "Download objects as a signed-in user"
    static let discussion = [
        """
        OBJECT is a file id as printed by ls, the id of an upload, the name of a file, or a filter as for ls, which may \
        match many objects. Each object becomes the file DIR/NAME when it is complete and its checksum matches. Until \
        then it is DIR/NAME.DIGEST.part, which the same command continues after an interruption. If DIR has a different file of \
        this name, that file stays and the object becomes 'NAME (2)'. An object that DIR already has is not requested \
        again. After an error that concerns one object only, the others are still downloaded.
        """,
        """
        With --json, each event is one JSON object on a line: begun, progress, waiting, completed, failed; with several \
        objects also total and summary.
        """,
    ]
    static let examples = [
        "download drive.mcap --to downloads",
        "download 'weather=rain age<7d' --name '{device}/{date}/{name}'",
    ]

    static var parameters: [Parameter<Self>] {
        [
            .arguments("OBJECT", \.objects, "The objects to download: file ids, ids of uploads, names or filters"),
            .option(
                "--to", "DIR", \.folder, "The target folder, created if it is missing (default: the current folder)"),
            .flag("--by-id", \.isByID, "Save each object under its file id instead of its name"),
            .option(
                "--name", "TEMPLATE", \.template,
                "Save each object under this path below DIR, with the placeholders \(DownloadTemplate.placeholders)"),
            .option("--parallel", "N", \.parallel, "Download this number of objects at once: 1 to 16 (default: 4)"),
            .option(
                "--limit-rate", "BYTES", \.limit,
                "Receive at most this number of bytes a second, for example 500KB or 2MiB"),
            TimeZoneOption.parameter(\.timeZone),
            .flag("--dry-run", \.isDryRun, "Print which objects would be downloaded, and download nothing"),
        ] + ConnectionOptions.parameters(of: .gateway).map { $0.at(\.connection) }
    }

    var objects: [String] = []
    var folder = "."
    var isByID = false
    var template: DownloadTemplate?
    var parallel: Int64 = 4
    var limit: ByteQuantityArgument?
    var timeZone = ""
    var isDryRun = false
    var connection = ConnectionOptions()

    func run(in environment: CommandEnvironment) async -> ExitCode {
        let reporter = TransferReporter(environment, asJSON: connection.json)
        return await Interruption.cancelling {
            await reporter.watching { await downloadAll(environment, reporter) }
        }
    }

    private func downloadAll(_ environment: CommandEnvironment, _ reporter: TransferReporter) async -> ExitCode {
        let batch = DownloadBatch(
            source: DownloadSource(connection, environment, timeZone: timeZone), reporter: reporter,
            environment: environment, limit: limit,
            parallel: Int(parallel))
        do {
            guard (1...16).contains(parallel) else {
                throw ClientFailure("--parallel must be 1 to 16", exitCode: .usage)
            }
            guard !isByID || template == nil else {
                throw ClientFailure("--by-id and --name must not be given together", exitCode: .usage)
            }
            if !isDryRun { try DownloadTargets.makeFolder(folder) }
            let (wanted, missing) = try await find(batch)
            for failure in missing { _ = reporter.fail(failure) }
            if isDryRun {
                try await plan(wanted, batch.source, reporter)
                return missing.isEmpty ? .success : .refused
            }
            return await batch.run(
                wanted, missing: missing, to: try DownloadTargets(folder: folder, naming: naming))
        } catch {
            return reporter.fail(ClientFailure(error, file: folder, hint: DownloadBatch.hint))
        }
    }

    /// Returns the objects of all arguments, and the failures of arguments without objects, which do not concern the others.
    private func find(
        _ batch: DownloadBatch
    ) async throws -> (wanted: [DownloadSource.Wanted], missing: [ClientFailure]) {
        let needsDetails = template?.needsDetails == true || isDryRun
        var (wanted, missing): ([DownloadSource.Wanted], [ClientFailure]) = ([], [])
        var known: Set<String> = []
        for object in objects {
            do {
                let found = try await batch.find(object, needsDetails: needsDetails)
                wanted += found.filter { known.insert($0.id).inserted }
            } catch let failure as ClientFailure where failure.concernsOneArgument {
                missing.append(failure)
            }
        }
        return (wanted, missing)
    }

    private var naming: DownloadTargets.Naming {
        isByID ? .byID : template.map { .template($0) } ?? .byName
    }

    private func plan(
        _ wanted: [DownloadSource.Wanted], _ source: DownloadSource, _ reporter: TransferReporter
    ) async throws {
        for object in wanted {
            let file = try await source.file(object)
            let name = try DownloadTargets.names(of: file, naming).joined(separator: "/")
            reporter.event(
                "planned",
                [
                    ("file_id", .string(file.id)), ("file", .string("\(folder)/\(name)")),
                    ("size_bytes", .number(file.size)),
                ])
            reporter.line("would download \(folder)/\(name): \(ByteCount.text(file.size))")
        }
        reporter.line(TextLayout.count(wanted.count, "object"))
    }
}

extension ClientFailure {
    /// Whether a search failed because of its argument: nothing was found, or the filter is invalid.
    fileprivate var concernsOneArgument: Bool { status == .notFound || status == .invalidArgument }
}
