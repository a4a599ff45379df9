import Basics
import CommandLineInterface
import DeviceCommands
import GatewayProto
import HTTPClient
import JSON
import StoreClient
import Synchronization

/// Downloads objects, several at once, and reports the result of each and of all.
struct DownloadBatch: Sendable {
    static let hint = "the same command continues the download"

    let source: DownloadSource
    let reporter: TransferReporter
    let environment: CommandEnvironment
    let limit: ByteQuantityArgument?
    let parallel: Int

    private enum Result: Sendable {
        case downloaded(Int64)
        case alreadyThere
        case failed(DownloadTally.Failure)
    }

    /// Returns the objects of an argument.
    ///
    /// - Parameter needsDetails: whether the details of objects given by id are needed, too.
    func find(_ object: String, needsDetails: Bool) async throws -> [DownloadSource.Wanted] {
        do {
            return try await retrying.run("ListObjects") { try await source.find(object, needsDetails: needsDetails) }
        } catch {
            throw ClientFailure(error, file: object, hint: "try again later")
        }
    }

    /// Downloads the objects. An error that concerns all of them ends the batch; downloads in progress are finished.
    ///
    /// - Parameter missing: the reported failures of arguments for which there are no objects.
    func run(
        _ wanted: [DownloadSource.Wanted], missing: [ClientFailure] = [], to targets: DownloadTargets
    ) async -> ExitCode {
        let sizes = wanted.map { $0.details?.sizeBytes }
        reporter.expect(files: wanted.count, bytes: sizes.contains(nil) ? nil : sizes.reduce(0) { $0 + ($1 ?? 0) })
        let start = ContinuousClock.now
        var tally = DownloadTally(count: wanted.count, missing: missing)
        var options = HTTPConnection.Options(authorities: ListenerTrust(current: environment).authorityFile)
        options.receiveLimit = limit.map { RateLimit(bytesPerSecond: $0.bytes) }
        let connections = (0..<min(parallel, max(1, wanted.count))).map { _ in HTTPConnection(options) }
        var targets = targets
        await withTaskGroup(of: (connection: Int, result: Result).self) { group in
            var free = Array(connections.indices)
            func awaitOne() async {
                guard let (connection, result) = await group.next() else { return }
                free.append(connection)
                count(result, in: &tally)
            }
            for object in wanted {
                if free.isEmpty { await awaitOne() }
                guard !tally.isOver, !Task.isCancelled, let connection = free.popLast() else { break }
                do {
                    let file = try await retrying.run("RequestDownload") { try await source.file(object) }
                    let target = try await targets.find(for: file)
                    let http = connections[connection]
                    group.addTask { (connection, await result(of: file, target, object, http)) }
                } catch {
                    free.append(connection)
                    count(.failed(DownloadTally.Failure(error, object)), in: &tally)
                }
            }
            while free.count < connections.count { await awaitOne() }
        }
        if tally.count > 1 { tally.summarize(in: ContinuousClock.now - start, reporter) }
        return tally.worst == .success && Task.isCancelled ? .refused : tally.worst
    }

    private func count(_ result: Result, in tally: inout DownloadTally) {
        switch result {
        case .downloaded(let size): tally.count(size)
        case .alreadyThere: tally.alreadyThere += 1
        case .failed(let failure):
            tally.count(failure)
            _ = reporter.fail(failure.reason, as: [("file_id", failure.id), ("file", failure.name)])
        }
    }

    private func result(
        of file: RemoteFile, _ target: DownloadTargets.Target, _ object: DownloadSource.Wanted, _ http: HTTPConnection
    ) async -> Result {
        do {
            if target.isComplete {
                reporter.skip(file.size)
                completed(file, target, size: file.size)
                reporter.line("already downloaded \(target.shown): \(ByteCount.text(file.size))")
                return .alreadyThere
            }
            return .downloaded(try await fetch(file, to: target, object, http))
        } catch {
            return .failed(DownloadTally.Failure(error, object, name: file.name?.text))
        }
    }

    /// - Returns: the object's size in bytes.
    private func fetch(
        _ file: RemoteFile, to target: DownloadTargets.Target, _ object: DownloadSource.Wanted, _ http: HTTPConnection
    ) async throws -> Int64 {
        let path = target.shown
        reporter.event("begun", [("file_id", .string(file.id)), ("file", .string(path))])
        reporter.begin(path, name: Path.name(of: path), total: nil, done: 0)
        defer { reporter.end(path) }
        let issued = Lock<FileDownload.Location?>(file.location)
        let size = try await FileDownload(
            to: FileDownload.Target(target.name, of: file.id, shownAs: path, path: target.folder.path), over: http,
            retrying: retrying,
            location: {
                // The one that came with the object's details; another where it does not suffice.
                if let first = issued.withLock({ place in
                    defer { place = nil }
                    return place
                }) {
                    return first
                }
                return try await source.location(of: object)
            },
            progress: { reporter.set($0, total: $1, of: path) }
        ).run()
        completed(file, target, size: size)
        reporter.line("downloaded \(path): \(ByteCount.text(size))")
        return size
    }

    private func completed(_ file: RemoteFile, _ target: DownloadTargets.Target, size: Int64) {
        reporter.event(
            "completed",
            [
                ("file_id", .string(file.id)), ("file", .string(target.shown)), ("size_bytes", .number(size)),
                ("was_already_there", .bool(target.isComplete)),
            ])
    }

    private var retrying: Retrying {
        Retrying(policy: RetryPolicy()) { error in
            switch error {
            case TransferFailure.connection: .transient(after: nil)
            case let refusal as StoreRefusal where refusal.retryability == .retry: .transient(after: nil)
            case let failure as ClientFailure where failure.exitCode == .unreachable: .transient(after: nil)
            default: .permanent
            }
        } notice: { what, reason, delay in
            let hint = "trying again in \(delay.rounded)"
            let failure = ClientFailure(reason, file: what, hint: hint)
            reporter.warning(reason is ClientFailure ? "\(failure.message); \(hint)" : failure.message)
            reporter.event(
                "waiting",
                [
                    ("operation", .string(what)), ("reason", .string(failure.message)),
                    ("milliseconds", .number(delay.nanoseconds / 1_000_000)),
                ])
        }
    }
}
