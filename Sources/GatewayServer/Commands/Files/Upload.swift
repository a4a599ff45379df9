import Basics
import CommandLineInterface
import DeviceClient
import Foundation
import HTTPClient
import RPC

/// `data-gateway upload`
struct Upload: Command {
    static let name = "upload"
    static let summary = "Upload files as a device"
    static let discussion = [
        """
        The command sends files in parts. A journal records what the gateway acknowledged, so that --resume continues an \
        interrupted upload. --resume without a FILE continues all unfinished uploads.
        """,
        """
        With --json, each event is one JSON object on a line: begun, progress, waiting, restarted, completed, failed.
        """,
    ]

    static var parameters: [Parameter<Self>] {
        [
            .arguments("FILE", \.files, "The files to upload", isRequired: false),
            .repeated(
                "--tag", "KEY=VALUE", \.tags,
                "A tag in addition to the device's tags; a resumed upload keeps its tags"),
            .option("--parallel", "N", \.parallel, "Send this number of parts at once: 1 to 64 (default: 1)"),
            .flag(
                "--resume", \.isResuming,
                "Continue the unfinished uploads of the files; upload the other files from the beginning"),
            .flag("--restart", \.isRestarting, "Abort an earlier upload of the file and start over").formerly(
                "--afresh"),
            .option(
                "--retry-for", "SECONDS", \.retrySeconds,
                "Retry for this number of seconds without progress: 0 to 604800 (default: 300)"
            ).formerly("--patience"),
        ] + DeviceOptions.parameters(json: "Print each event as a line of JSON").map { $0.at(\.device) }
    }

    var files: [String] = []
    var tags: [TagArgument] = []
    var parallel: Int64 = 1
    var isResuming = false
    var isRestarting = false
    var retrySeconds: Int64 = 300
    var device = DeviceOptions()

    func run(in environment: CommandEnvironment) async -> ExitCode {
        let reporter = TransferReporter(environment, asJSON: device.json)
        return await Interruption.cancelling {
            await reporter.watching { await uploadAll(environment, reporter) }
        }
    }

    private func uploadAll(_ environment: CommandEnvironment, _ reporter: TransferReporter) async -> ExitCode {
        do {
            let tags = try tags.dictionary()
            let uploader = try uploader(environment, reporter)
            let files = files.isEmpty ? try uploader.unfinished() : files
            if files.isEmpty { reporter.line("there are no unfinished uploads") }
            var worst = ExitCode.success
            for file in files {
                let code = await upload(file, tags, uploader, reporter, environment)
                // What holds for every file is not tried with each.
                if code == .unreachable || Task.isCancelled { return code }
                if code != .success { worst = code }
            }
            return worst
        } catch {
            return fail(ClientFailure(error, file: "upload", hint: "try again later"), "", reporter, environment)
        }
    }

    private func uploader(_ environment: CommandEnvironment, _ reporter: TransferReporter) throws -> Uploader {
        guard !files.isEmpty || isResuming else {
            throw ClientFailure("upload requires FILE or --resume", exitCode: .usage)
        }
        guard !(isResuming && isRestarting) else {
            throw ClientFailure("--resume and --restart must not both be set", exitCode: .usage)
        }
        guard (1...64).contains(parallel) else { throw ClientFailure("--parallel must be 1 to 64", exitCode: .usage) }
        guard (0...604_800).contains(retrySeconds) else {
            throw ClientFailure("--retry-for must be 0 to 604800 seconds", exitCode: .usage)
        }
        var options = Uploader.Options()
        options.parallel = Int(parallel)
        options.retries = RetryPolicy(patience: .seconds(retrySeconds))
        options.authorities = environment.authorities
        return try Uploader(device.deviceFolder(environment), options: options, clock: environment.clock) {
            Self.report($0, to: reporter)
        }
    }

    private func upload(
        _ file: String, _ tags: [String: String], _ uploader: Uploader, _ reporter: TransferReporter,
        _ environment: CommandEnvironment
    ) async -> ExitCode {
        let start = ContinuousClock.now
        do {
            let outcome = try await uploader.upload(
                file, tags: tags, isRestarting ? .restarting : isResuming ? .resuming : .new)
            reporter.end()
            reporter.event(
                "completed",
                [
                    ("file", .string(outcome.source.path)), ("logical_upload_id", .string(outcome.logicalID)),
                    ("upload_id", .string(outcome.uploadID)), ("file_id", .string(outcome.fileID)),
                    ("size_bytes", .number(outcome.source.size)),
                    ("part_count", .number(Int64(outcome.parts))), ("etag", .string(outcome.etag)),
                ])
            let seconds = ProgressLine.clock(Int64(((ContinuousClock.now - start) / .seconds(1)).rounded(.up)))
            let size = ByteCount.text(outcome.source.size)
            reporter.line(
                "uploaded \(file): \(size) in \(seconds), \(outcome.fileID.isEmpty ? "upload \(outcome.uploadID)" : "file \(outcome.fileID)")"
            )
            return .success
        } catch {
            reporter.end()
            let hint = "data-gateway upload --resume continues the upload"
            return fail(ClientFailure(error, file: file, hint: hint), file, reporter, environment)
        }
    }

    private func fail(
        _ failure: ClientFailure, _ file: String, _ reporter: TransferReporter, _ environment: CommandEnvironment
    ) -> ExitCode {
        reporter.event("failed", [("file", .string(file)), ("message", .string(failure.message))])
        environment.errorOutput("data-gateway: \(TextLayout.printable(failure.message))")
        return failure.exitCode
    }

    private static func report(_ notice: UploadNotice, to reporter: TransferReporter) {
        switch notice {
        case .began(let state, let acknowledged):
            let source = state.source
            reporter.begin(Path.name(of: source.path), total: source.size, done: acknowledged)
            if acknowledged > 0 {
                let sizes = "\(ByteCount.text(acknowledged)) of \(ByteCount.text(source.size))"
                reporter.line("continuing \(source.path): \(sizes) already stored")
            }
            reporter.event(
                "begun",
                [
                    ("file", .string(source.path)), ("size_bytes", .number(source.size)),
                    ("done_bytes", .number(acknowledged)),
                ])
        case .standing(let acknowledged, let size): reporter.set(acknowledged, total: size)
        case .moved(let bytes): reporter.add(bytes)
        case .acknowledged(let part, let bytes):
            reporter.event("acknowledged", [("part", .number(Int64(part))), ("size_bytes", .number(bytes))])
        case .waiting(let what, let reason, let delay):
            let failure = ClientFailure(reason, file: what, hint: "trying again in \(delay.rounded)")
            reporter.warning(failure.message)
            reporter.event(
                "waiting",
                [
                    ("operation", .string(what)), ("reason", .string(failure.message)),
                    ("milliseconds", .number(delay.nanoseconds / 1_000_000)),
                ])
        case .restarted:
            reporter.warning("the stored parts are lost: sending the file from the beginning")
            reporter.event("restarted", [])
        }
    }
}

extension Duration {
    /// For people.
    fileprivate var rounded: String {
        let seconds = nanoseconds / 1_000_000_000
        return seconds < 1 ? "less than a second" : seconds == 1 ? "a second" : "\(seconds) s"
    }
}

extension CommandEnvironment {
    /// The file of the authorities whose certificates are taken; `nil` = those that the machine trusts.
    var authorities: String? {
        self[GatewayConnection.authoritiesVariable].flatMap { $0 == "system" ? nil : $0 }
    }
}
