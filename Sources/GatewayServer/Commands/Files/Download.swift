import Basics
import CommandLineInterface
import Foundation
import HTTPClient
import HTTPTypes
import Proto
import StoreClient
import Wire

/// `data-gateway download`
struct Download: Command {
    static let name = "download"
    static let summary = "Download objects as a signed-in user"
    static let discussion = [
        """
        Each object becomes the file DIR/NAME when it is complete and its checksum matches. Until then it is \
        DIR/NAME.part, which the same command continues after an interruption. If DIR has a different file of this \
        name, that file stays and the object becomes 'NAME (2)'. An object that DIR already has is not downloaded again.
        """,
        "With --json, each event is one JSON object on a line: begun, progress, waiting, completed, failed.",
    ]

    static var parameters: [Parameter<Self>] {
        [
            .arguments(
                "FILE_ID", \.fileIDs, "The objects to download: file ids as printed by ls, or ids of uploads"),
            .option(
                "--to", "DIR", \.folder, "The target folder, created if it is missing (default: the current folder)"),
            .flag("--by-id", \.isByID, "Save each object under its file id instead of its name"),
        ] + ConnectionOptions.parameters(of: .gateway).map { $0.at(\.connection) }
    }

    var fileIDs: [String] = []
    var folder = "."
    var isByID = false
    var connection = ConnectionOptions()

    func run(in environment: CommandEnvironment) async -> ExitCode {
        let reporter = TransferReporter(environment, asJSON: connection.json)
        return await Interruption.cancelling {
            await reporter.watching { await downloadAll(environment, reporter) }
        }
    }

    private func downloadAll(_ environment: CommandEnvironment, _ reporter: TransferReporter) async -> ExitCode {
        let http = HTTPConnection(HTTPConnection.Options(authorities: environment.authorities))
        var file = folder
        do {
            try makeFolder()
            let gateway = Presigner(connection, environment)
            for id in fileIDs {
                file = id
                try await download(id, gateway, http, reporter)
            }
            return .success
        } catch {
            reporter.end()
            let failure = ClientFailure(error, file: file, hint: "the same command continues the download")
            reporter.event("failed", [("file_id", .string(file)), ("message", .string(failure.message))])
            environment.errorOutput("data-gateway: \(TextLayout.printable(failure.message))")
            return failure.exitCode
        }
    }

    private func makeFolder() throws(ClientFailure) {
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw ClientFailure("cannot create the folder \(folder): \(error.localizedDescription)")
        }
    }

    private func download(
        _ id: String, _ gateway: Presigner, _ http: HTTPConnection, _ reporter: TransferReporter
    ) async throws {
        let file = try await retrying(reporter).run("RequestDownload") { try await gateway.file(id) }
        let target = try await DownloadTarget.find(for: file, in: folder, isByID: isByID)
        let path = target.path
        reporter.begin(Path.name(of: path), total: nil, done: 0)
        reporter.event("begun", [("file_id", .string(file.id)), ("file", .string(path))])
        if target.isComplete {
            reporter.end()
            reporter.event(
                "completed",
                [("file_id", .string(file.id)), ("file", .string(path)), ("size_bytes", .number(file.size))])
            return reporter.line("already downloaded \(path): \(ByteCount.text(file.size))")
        }
        let size = try await FileDownload(
            to: path, over: http, retrying: retrying(reporter),
            location: { try await gateway.file(id).location },
            progress: { reporter.set($0, total: $1) }
        ).run()
        reporter.end()
        reporter.event(
            "completed", [("file_id", .string(file.id)), ("file", .string(path)), ("size_bytes", .number(size))])
        reporter.line("downloaded \(path): \(ByteCount.text(size))")
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

/// Asks the gateway for URLs, over a connection that is opened anew when it broke.
private actor Presigner {
    private let options: ConnectionOptions
    private let environment: CommandEnvironment
    private var connection: SignedInConnection?

    init(_ options: ConnectionOptions, _ environment: CommandEnvironment) {
        self.options = options
        self.environment = environment
    }

    func file(_ id: String) async throws -> RemoteFile {
        do {
            let open: SignedInConnection
            if let connection {
                open = connection
            } else {
                open = try await SignedInConnection(options, listener: .gateway, in: environment)
            }
            connection = open
            let reply = try await DataGatewayObjectServiceClient(open).requestDownload(
                RequestDownloadRequest(fileIDs: [id]))
            let file = try reply.files.first.present("files")
            let read = try file.read.present("read")
            return RemoteFile(
                id: file.fileID, name: FileName(file.name), size: file.sizeBytes, crc64: UInt64(file.crc64Ecma),
                location: FileDownload.Location(url: read.uri, fields: HTTPFields(read.headers)))
        } catch let failure as ClientFailure where failure.exitCode == .unreachable {
            connection = nil
            throw failure
        }
    }
}

extension HTTPFields {
    fileprivate init(_ headers: [String: String]) {
        self.init()
        for (name, value) in headers { append(name, value) }
    }
}
