import Accounts
import Basics
package import CommandLineInterface
import JSON
package import Proto

/// `data-gateway audit`
///
/// Unlike other lists, it is printed while it is read: a log can be larger than memory, and with `--follow` it has no end.
struct AuditLog: Command {
    static let name = "audit"
    static let summary = "Show the audit log: who did what to which resource"
    static let discussion = [
        """
        Admins see the lines of their organization; admins of 'system' see all lines. With --json, each line is one JSON \
        object; --output csv and wide write all fields.
        """
    ]

    static var parameters: [Parameter<Self>] {
        [
            .option(
                "--since", "TIME", \.since,
                "Show lines since an age (30m, 24h, 7d), a date or an RFC 3339 time (default: 24h)"),
            .option("--until", "TIME", \.until, "Show lines before an age, a date or a time"),
            .option(
                "--who", "WHO", \.who,
                "Show lines of people (users, the gateway and unknown callers), of devices (and keys), or of all (default: people; with --json, csv or --follow: all)"
            ),
            .option("--about", "GROUP", \.group, "Show only actions of this group"),
            .option("--actor", "TEXT", \.actor, "Show only lines of this actor; * stands for any text"),
            .option("--action", "TEXT", \.action, "Show only lines of this action; * stands for any text"),
            .option(
                "--target", "TEXT", \.target,
                "Show only lines with this target, or with this id among their targets; * stands for any text"),
            .option("--result", "TEXT", \.result, "Show only lines of this result; * stands for any text"),
            .flag("--follow", \.follows, "Keep showing new lines until interrupted"),
        ] + ConnectionOptions.parameters(of: .admin).map { $0.at(\.connection) }
            + OutputOptions.parameters.map { $0.at(\.connection.output) }
    }

    private static let pageSize: Int32 = 500
    /// The interval for polling the end of the log.
    private static let interval = Duration.seconds(1)

    var since = PastTime.ago(seconds: 86_400)
    var until: PastTime?
    var who: AuditedActors?
    var group: AuditedGroup?
    var actor = ""
    var action = ""
    var target = ""
    var result = ""
    var follows = false
    var connection = ConnectionOptions()

    func run(in environment: CommandEnvironment) async -> ExitCode {
        await environment.attempt(asJSON: connection.json || connection.output.format == .json) {
            var printer = try AuditPrinter(connection, width: environment.outputWidth())
            let log = AuditServiceClient(try await SignedInConnection(connection, listener: .admin, in: environment))
            var request = request(at: environment.clock.now())
            while true {
                let page = try await log.listAuditLines(request)
                for text in printer.texts(of: page.lines) { try environment.output(text) }
                request.pageToken = page.nextPageToken
                if !page.hasMore {
                    guard follows else { return }
                    try await Task.sleep(for: Self.interval)
                }
            }
        }
    }

    /// Whether the output is for programs, which read all lines unless an option says otherwise.
    private var isForPrograms: Bool {
        connection.json || [.json, .csv].contains(connection.output.format) || follows
    }

    private func request(at now: UnixTime) -> ListAuditLinesRequest {
        var kinds = (who ?? (isForPrograms ? .all : .people)).kinds
        // The pattern of an actor says more about its kind than the default.
        if who == nil, !actor.isEmpty { kinds = [] }
        return ListAuditLinesRequest(
            since: Timestamp(since.time(at: now)), pageSize: Self.pageSize,
            until: until.map { Timestamp($0.time(at: now)) },
            actorKinds: kinds, actor: actor, action: action, target: target, result: result,
            actionGroup: group?.number ?? .unspecified, withSentences: true)
    }
}

/// The actors whose lines a command shows.
enum AuditedActors: String, ArgumentChoice {
    case people
    case devices
    case all

    var kinds: [AuditActorKind] {
        switch self {
        case .people: [.user, .gateway, .unknown]
        case .devices: [.device, .key]
        case .all: []
        }
    }
}

/// The actions that a command shows.
enum AuditedGroup: String, ArgumentChoice {
    case uploads
    case downloads
    case deletions
    case changes
    case signIns = "sign-ins"
    case access
    case devices
    case gateway

    var number: AuditActionGroup {
        switch self {
        case .uploads: .upload
        case .downloads: .download
        case .deletions: .deletion
        case .changes: .change
        case .signIns: .signIn
        case .access: .access
        case .devices: .device
        case .gateway: .gateway
        }
    }
}

/// Prints lines of the audit log in the form of the options, while they are read.
private struct AuditPrinter {
    private let format: OutputOptions.Format
    private var columns: [String]
    /// The number of columns of the terminal; `nil` = unlimited.
    private let width: Int?
    private var isFirst = true
    /// The longest cell of each column so far: later lines are aligned with it, or widen the column.
    private var longest: [String] = []

    /// - Parameter width: the number of columns of the terminal, if it decides which columns are shown.
    /// - Throws: if a column is unknown.
    init(_ options: ConnectionOptions, width: Int?) throws(ClientFailure) {
        self.width = options.output.format == nil && options.output.columns == nil ? width : nil
        format = options.json ? .json : options.output.format ?? .table
        let known = AuditLine().fields.map(\.name)
        // A sentence of a few words is of more use than the address beside the beginning of one.
        let isNarrow = width.map { $0 < 100 } ?? false
        columns =
            options.output.columns?.names
            ?? (format == .wide || format == .csv ? known : isNarrow ? ["at", "sentence"] : AuditLine.columns)
        if let unknown = columns.first(where: { !known.contains($0) }) {
            throw ClientFailure(
                "--columns has the unknown column \(unknown): known are \(known.joined(separator: ", "))",
                exitCode: .usage)
        }
    }

    /// Returns the texts of the next lines, with a header before the first.
    mutating func texts(of lines: [AuditLine]) -> [String] {
        if format == .json { return lines.map(\.json.text) }
        guard format == .csv else { return table(lines) }
        var rows = lines.map { line in
            columns.map { column in line.fields.first { $0.name == column }?.text ?? "" }
        }
        if isFirst { rows.insert(columns, at: 0) }
        isFirst = false
        return rows.isEmpty ? [] : Self.csv(rows)
    }

    private static func csv(_ rows: [[String]]) -> [String] {
        [CSVWriter.text(rows.map { $0.map { SpreadsheetCell.cell(of: $0) } })]
    }

    private mutating func table(_ lines: [AuditLine]) -> [String] {
        guard !lines.isEmpty else { return [] }
        var table = ListTable(
            rows: lines.map(\.fields), columns: columns,
            expendable: ["ids", "count", "organization", "peer", "target", "result"])
        if isFirst, let width { table = table.fitting(into: width) }
        columns = table.columns
        let cells = isFirst ? table.cells : Array(table.cells.dropFirst())
        isFirst = false
        longest = cells.reduce(longest.isEmpty ? columns.map { _ in "" } : longest) { longest, row in
            zip(longest, row.map(TextLayout.printable)).map { $0.count < $1.count ? $1 : $0 }
        }
        let text = TextLayout.table([longest] + cells, width: width, shortening: table.shortened)
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropFirst().map(Self.endingWithWord)
    }

    /// Returns the line without the first part of a word that the terminal has no space for, which could pass for another id.
    private static func endingWithWord(_ line: Substring) -> String {
        guard line.hasSuffix("…"), let space = line.lastIndex(of: " ") else { return String(line) }
        return line[..<space] + "…"
    }
}

extension AuditLine: Resource {
    package static let columns = ["at", "organization", "peer", "sentence"]

    package var fields: [ResourceField] {
        [
            .number("line_id", lineID), .time("at", at), .text("actor", actor), .text("organization", organization),
            .text("action", action), .text("target", target), .text("peer", peer), .text("result", result),
            .number("count", count), .text("ids", ids.joined(separator: " ")),
            .text("sentence", sentence.map(\.text).joined()),
        ]
    }
}
