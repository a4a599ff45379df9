import Accounts
import CommandLineInterface
import Proto

/// `data-gateway audit`
///
/// Unlike other lists, it is printed while it is read: a log can be larger than memory, and with `--follow` it has no end.
struct AuditLog: Command {
    static let name = "audit"
    static let summary = "Show the audit log: who did what to which resource"
    static let discussion = [
        """
        Admins see the lines of their organization; admins of 'system' see all lines. With --json, each line is one JSON \
        object.
        """
    ]

    static var parameters: [Parameter<Self>] {
        [
            .option(
                "--since", "TIME", \.since, "Show lines since an age (30m, 24h, 7d) or an RFC 3339 time (default: 24h)"),
            .flag("--follow", \.follows, "Keep showing new lines until interrupted"),
        ] + ConnectionOptions.parameters(of: .admin).map { $0.at(\.connection) }
    }

    private static let pageSize: Int32 = 500
    /// The interval for polling the end of the log.
    private static let interval = Duration.seconds(1)

    var since = PastTime.ago(seconds: 86_400)
    var follows = false
    var connection = ConnectionOptions()

    func run(in environment: CommandEnvironment) async -> ExitCode {
        await environment.attempt {
            let log = AuditServiceClient(try await SignedInConnection(connection, listener: .admin, in: environment))
            var request = ListAuditLinesRequest(
                since: Timestamp(since.time(at: environment.clock.now())), pageSize: Self.pageSize)
            while true {
                let page = try await log.listAuditLines(request)
                for line in page.lines { try environment.output(connection.json ? line.json.text : line.text) }
                request.pageToken = page.nextPageToken
                if page.lines.isEmpty {
                    guard follows else { return }
                    try await Task.sleep(for: Self.interval)
                }
            }
        }
    }
}

extension AuditLine: Resource {
    package static let columns = ["at", "actor", "organization", "action", "target", "peer", "result", "count"]

    package var fields: [ResourceField] {
        [
            .number("line_id", lineID), .time("at", at), .text("actor", actor), .text("organization", organization),
            .text("action", action), .text("target", target), .text("peer", peer), .text("result", result),
            .number("count", count), .text("ids", ids.joined(separator: " ")),
        ]
    }

    /// The line's text, without the column widths of a table, because later lines are not known.
    fileprivate var text: String {
        let words = Self.columns.compactMap { column in fields.first { $0.name == column }?.text }
        return TextLayout.printable((words.map { $0.isEmpty ? "-" : $0 } + ids).joined(separator: "  "))
    }
}
