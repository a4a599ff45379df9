import Basics
import CommandLineInterface
import Proto

/// `data-gateway object share`
struct ObjectShare: ClientCommand {
    static let name = "share"
    static let summary = "Print a link with which anybody can download an object for a limited time"
    static let discussion = [
        """
        The link needs no sign-in. It works until the printed time, and stops earlier if your user is deleted or your \
        password or role changes.
        """
    ]
    static let examples = ["object share drive.mcap", "object share drive.mcap --expires 2h"]
    static let listener = CommandListener.gateway

    static var parameters: [Parameter<Self>] {
        [
            .arguments("OBJECT", \.objects, "The objects: file ids, ids of uploads, names or filters"),
            .option(
                "--expires", "TIME", \.lifetime,
                "How long the link works, such as 30m, 2h or 7d (default: 15m; the gateway limits it)"),
            TimeZoneOption.parameter(\.timeZone),
        ] + connectionParameters
    }

    var objects: [String] = []
    var lifetime: TimeSpan?
    var timeZone = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let service = DataGatewayObjectServiceClient(gateway)
        var links: [SharedLink] = []
        for object in objects {
            for wanted in try await DownloadSource.find(object, in: timeZone, over: gateway) {
                let reply = try await link(to: wanted.id, service)
                let file = try reply.files.first.present("files")
                let read = try file.read.present("read")
                guard read.headers.isEmpty else {
                    throw ClientFailure("the gateway's link requires header fields and cannot be shared")
                }
                links.append(SharedLink(file: file, url: read.uri, expiresAt: reply.expiresAtUnix))
            }
        }
        // A URL has a line of its own: a table would cut it off, or be wrapped.
        let texts = links.count == 1 ? links.map(\.text) : links.map(\.titledText)
        return Reply("links", links, wholeTexts: texts.joined(separator: "\n\n"))
    }

    private func link(
        to fileID: String, _ service: DataGatewayObjectServiceClient<SignedInConnection>
    ) async throws -> RequestDownloadResponse {
        do {
            return try await service.requestDownload(
                RequestDownloadRequest(fileIDs: [fileID], lifetimeSeconds: lifetime?.seconds ?? 0))
        } catch let failure as ClientFailure where failure.message.hasPrefix("lifetime_seconds") {
            throw ClientFailure("--expires is too long for the gateway: \(failure.message)", status: failure.status)
        }
    }
}

/// A link to an object.
private struct SharedLink: Resource {
    static let columns = ["name", "expires_at", "url"]

    let file: DownloadObjectLocation
    let url: String
    let expiresAt: Int64

    var fields: [ResourceField] {
        [
            .text("file_id", file.fileID), .text("name", file.name), .unixTime("expires_at", expiresAt),
            .text("url", url),
        ]
    }

    var titledText: String { "\(TextLayout.printable(file.name))\n\(text)" }

    var text: String { "\(url)\nuntil \(LocalTime.text(UnixTime(seconds: expiresAt)))" }
}
