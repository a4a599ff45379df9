import Basics
import CommandLineInterface
import DeviceClient
import Foundation
import HTTPClient
import RPC

/// `data-gateway upload`
struct Upload: Command {
    static let name = "upload"
    static let summary = "Upload files, as a device"
    static let discussion = [
        """
        A file goes in parts. What the gateway acknowledged is kept in a journal, so that an upload which broke off, \
        for whatever reason, goes on with --resume; without a FILE, all of them do.
        """,
        """
        With --json, each step is one JSON object on a line: begun, progress, waiting, restarted, completed, failed.
        """,
    ]

    static var parameters: [Parameter<Self>] {
        [
            .arguments("FILE", \.files, "What to upload", isRequired: false),
            .repeated(
                "--tag", "KEY=VALUE", \.tags,
                "A tag, beside those of the device; an upload that is resumed keeps its own"),
            .option("--parallel", "N", \.parallel, "Parts that are sent at once: 1 to 64 (default: 1)"),
            .flag("--resume", \.isResuming, "Go on with uploads that broke off; begin those of other files"),
            .flag("--afresh", \.isAfresh, "Give up what an earlier upload of the file has stored, and begin anew"),
            .option(
                "--patience", "SECONDS", \.patience,
                "How long to try again while nothing moves: 0 to 604800 (default: 300)"),
        ] + DeviceOptions.parameters(json: "Print what happens as lines of JSON").map { $0.at(\.device) }
    }

    var files: [String] = []
    var tags: [TagArgument] = []
    var parallel: Int64 = 1
    var isResuming = false
    var isAfresh = false
    var patience: Int64 = 300
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
            if files.isEmpty { reporter.line("nothing to resume") }
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
            throw ClientFailure("upload needs FILE or --resume", exitCode: .usage)
        }
        guard !(isResuming && isAfresh) else {
            throw ClientFailure("--resume and --afresh exclude each other", exitCode: .usage)
        }
        guard (1...64).contains(parallel) else { throw ClientFailure("--parallel takes 1 to 64", exitCode: .usage) }
        guard (0...604_800).contains(patience) else {
            throw ClientFailure("--patience takes 0 to 604800 seconds", exitCode: .usage)
        }
        var options = Uploader.Options()
        options.parallel = Int(parallel)
        options.retries = RetryPolicy(patience: .seconds(patience))
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
                file, tags: tags, isAfresh ? .afresh : isResuming ? .resuming : .new)
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
            let hint = "data-gateway upload --resume goes on"
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
                reporter.line("going on with \(source.path): \(sizes) arrived before")
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
            reporter.warning("what was stored of it is gone: the file is sent from its beginning")
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
