import Basics
import CommandLineInterface
import DeviceCommands
import Foundation
import HTTPClient
import StoreClient

/// `data-gateway download`
struct Download: Command {
    static let name = "download"
    static let summary = "Download objects as a signed-in user"
    static let discussion = [
        """
        OBJECT is a file id as printed by ls, the id of an upload, the name of a file, or a filter as for ls, which may \
        match many objects. Each object becomes the file DIR/NAME when it is complete and its checksum matches. Until \
        then it is DIR/NAME.part, which the same command continues after an interruption. If DIR has a different file of \
        this name, that file stays and the object becomes 'NAME (2)'. An object that DIR already has is not downloaded \
        again.
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
            .flag("--dry-run", \.isDryRun, "Print which objects would be downloaded, and download nothing"),
        ] + ConnectionOptions.parameters(of: .gateway).map { $0.at(\.connection) }
    }

    var objects: [String] = []
    var folder = "."
    var isByID = false
    var template: DownloadTemplate?
    var parallel: Int64 = 4
    var isDryRun = false
    var connection = ConnectionOptions()

    func run(in environment: CommandEnvironment) async -> ExitCode {
        let reporter = TransferReporter(environment, asJSON: connection.json)
        return await Interruption.cancelling {
            await reporter.watching { await downloadAll(environment, reporter) }
        }
    }

    private func downloadAll(_ environment: CommandEnvironment, _ reporter: TransferReporter) async -> ExitCode {
        let source = DownloadSource(connection, environment)
        do {
            guard (1...16).contains(parallel) else {
                throw ClientFailure("--parallel must be 1 to 16", exitCode: .usage)
            }
            guard !isByID || template == nil else {
                throw ClientFailure("--by-id and --name must not be given together", exitCode: .usage)
            }
            if !isDryRun { try DownloadTargets.makeFolder(folder) }
            var wanted: [DownloadSource.Wanted] = []
            var known: Set<String> = []
            for object in objects {
                let found = try await find(object, source, reporter)
                wanted += found.filter { known.insert($0.id).inserted }
            }
            if isDryRun { return try await plan(wanted, source, reporter) }
            let sizes = wanted.map { $0.details?.sizeBytes }
            reporter.expect(
                files: wanted.count, bytes: sizes.contains(nil) ? nil : sizes.reduce(0) { $0 + ($1 ?? 0) })
            return await download(wanted, source, environment, reporter)
        } catch {
            return fail(error, folder, reporter)
        }
    }

    private var naming: DownloadTargets.Naming {
        isByID ? .byID : template.map { .template($0) } ?? .byName
    }

    private func find(
        _ object: String, _ source: DownloadSource, _ reporter: TransferReporter
    ) async throws -> [DownloadSource.Wanted] {
        do {
            return try await retrying(reporter).run("ListObjects") {
                try await source.find(object, needsDetails: template?.needsDetails == true || isDryRun)
            }
        } catch {
            throw ClientFailure(error, file: object, hint: "try again later")
        }
    }

    private func plan(
        _ wanted: [DownloadSource.Wanted], _ source: DownloadSource, _ reporter: TransferReporter
    ) async throws -> ExitCode {
        for object in wanted {
            let file = try await source.file(object)
            let name =
                try DownloadTargets.names(of: file, naming).joined(separator: "/")
            reporter.event(
                "planned",
                [
                    ("file_id", .string(file.id)), ("file", .string("\(folder)/\(name)")),
                    ("size_bytes", .number(file.size)),
                ])
            reporter.line("would download \(folder)/\(name): \(ByteCount.text(file.size))")
        }
        reporter.line(TextLayout.count(wanted.count, "object"))
        return .success
    }

    /// Downloads several objects at once. After the first error no other download is begun, and those in progress are finished.
    private func download(
        _ wanted: [DownloadSource.Wanted], _ source: DownloadSource, _ environment: CommandEnvironment,
        _ reporter: TransferReporter
    ) async -> ExitCode {
        var targets: DownloadTargets
        do {
            targets = try DownloadTargets(folder: folder, naming: naming)
        } catch {
            return fail(error, folder, reporter)
        }
        let authorities = ListenerTrust(current: environment).authorityFile
        let connections = (0..<min(Int(parallel), max(1, wanted.count))).map { _ in
            HTTPConnection(HTTPConnection.Options(authorities: authorities))
        }
        let start = ContinuousClock.now
        var worst = ExitCode.success
        var (count, bytes) = (0, Int64(0))
        await withTaskGroup(of: (connection: Int, result: Result<Int64, Failed>).self) { group in
            var free = Array(connections.indices)
            func settle() async {
                guard let (connection, result) = await group.next() else { return }
                free.append(connection)
                switch result {
                case .success(let size): (count, bytes) = (count + 1, bytes + size)
                case .failure(let failure): worst = fail(failure.reason, failure.id, reporter)
                }
            }
            for object in wanted {
                if free.isEmpty { await settle() }
                guard worst == .success, !Task.isCancelled, let connection = free.popLast() else { break }
                do {
                    let file = try await retrying(reporter).run("RequestDownload") { try await source.file(object) }
                    let target = try await targets.find(for: file)
                    group.addTask { [connections] in
                        do {
                            let http = connections[connection]
                            return (
                                connection, .success(try await fetch(file, to: target, object, source, http, reporter))
                            )
                        } catch {
                            return (connection, .failure(Failed(id: object.id, reason: error)))
                        }
                    }
                } catch {
                    free.append(connection)
                    worst = fail(error, object.id, reporter)
                }
            }
            while free.count < connections.count { await settle() }
        }
        if worst == .success, Task.isCancelled { worst = .refused }
        if wanted.count > 1 {
            let elapsed = ContinuousClock.now - start
            reporter.event(
                "summary",
                [
                    ("downloaded_files", .number(Int64(count))), ("downloaded_bytes", .number(bytes)),
                    ("remaining_files", .number(Int64(wanted.count - count))),
                ])
            let rate = ByteCount.text(Double(bytes) / max(0.001, elapsed / .seconds(1)))
            let left = wanted.count > count ? ", \(wanted.count - count) not downloaded" : ""
            reporter.line(
                "\(TextLayout.count(count, "file")) downloaded: \(ByteCount.text(bytes)) in \(elapsed.clock), \(rate)/s\(left)"
            )
        }
        return worst
    }

    private struct Failed: Error {
        let id: String
        let reason: any Error
    }

    /// - Returns: the object's size in bytes.
    private func fetch(
        _ file: RemoteFile, to target: DownloadTargets.Target, _ object: DownloadSource.Wanted,
        _ source: DownloadSource, _ http: HTTPConnection, _ reporter: TransferReporter
    ) async throws -> Int64 {
        let path = target.shown
        reporter.event("begun", [("file_id", .string(file.id)), ("file", .string(path))])
        if target.isComplete {
            reporter.skip(file.size)
            completed(file, path, size: file.size, reporter)
            reporter.line("already downloaded \(path): \(ByteCount.text(file.size))")
            return file.size
        }
        reporter.begin(path, name: Path.name(of: path), total: nil, done: 0)
        defer { reporter.end(path) }
        let issued = Lock<FileDownload.Location?>(file.location)
        let size = try await FileDownload(
            to: target.path, over: http, retrying: retrying(reporter),
            location: {
                // The one that came with the object's details; another where it does not suffice.
                if let first = issued.withLock({ place in
                    defer { place = nil }
                    return place
                }) {
                    return first
                }
                return try await source.file(object).location
            },
            progress: { reporter.set($0, total: $1, of: path) }
        ).run()
        completed(file, path, size: size, reporter)
        reporter.line("downloaded \(path): \(ByteCount.text(size))")
        return size
    }

    private func completed(_ file: RemoteFile, _ path: String, size: Int64, _ reporter: TransferReporter) {
        reporter.event(
            "completed", [("file_id", .string(file.id)), ("file", .string(path)), ("size_bytes", .number(size))])
    }

    private func fail(_ error: any Error, _ file: String, _ reporter: TransferReporter) -> ExitCode {
        reporter.fail(
            ClientFailure(error, file: file, hint: "the same command continues the download"),
            of: (member: "file_id", id: file))
    }

    private func retrying(_ reporter: TransferReporter) -> Retrying {
        Retrying(policy: RetryPolicy()) { error in
            switch error {
            case TransferFailure.connection: .transient(after: nil)
            case let refusal as StoreRefusal where refusal.retryability == .retry: .transient(after: nil)
            case let failure as ClientFailure where failure.exitCode == .unreachable: .transient(after: nil)
            default: .permanent
            }
        } notice: { what, reason, delay in
            let failure = ClientFailure(reason, file: what, hint: "trying again")
            reporter.warning(failure.message)
            reporter.event(
                "waiting",
                [
                    ("operation", .string(what)), ("reason", .string(failure.message)),
                    ("milliseconds", .number(delay.nanoseconds / 1_000_000)),
                ])
        }
    }
}
