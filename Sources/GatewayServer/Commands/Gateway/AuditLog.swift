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
        object; --output csv writes all fields.
        """
    ]

    static var parameters: [Parameter<Self>] {
        [
            .option(
                "--since", "TIME", \.since,
                "Show lines since an age (30m, 24h, 7d), a date or an RFC 3339 time (default: 24h)"),
            .option("--actor", "TEXT", \.filter.actor, "Show only lines of this actor; * stands for any text"),
            .option("--action", "TEXT", \.filter.action, "Show only lines of this action; * stands for any text"),
            .option("--target", "TEXT", \.filter.target, "Show only lines of this target; * stands for any text"),
            .option("--result", "TEXT", \.filter.result, "Show only lines of this result; * stands for any text"),
            .flag("--follow", \.follows, "Keep showing new lines until interrupted"),
        ] + ConnectionOptions.parameters(of: .admin).map { $0.at(\.connection) }
            + OutputOptions.parameters.map { $0.at(\.connection.output) }
    }

    private static let pageSize: Int32 = 500
    /// The interval for polling the end of the log.
    private static let interval = Duration.seconds(1)

    var since = PastTime.ago(seconds: 86_400)
    var filter = AuditLineFilter()
    var follows = false
    var connection = ConnectionOptions()

    func run(in environment: CommandEnvironment) async -> ExitCode {
        await environment.attempt(asJSON: connection.json || connection.output.format == .json) {
            var printer = try AuditPrinter(connection, width: environment.outputWidth())
            let log = AuditServiceClient(try await SignedInConnection(connection, listener: .admin, in: environment))
            var request = ListAuditLinesRequest(
                since: Timestamp(since.time(at: environment.clock.now())), pageSize: Self.pageSize)
            while true {
                let page = try await log.listAuditLines(request)
                for text in printer.texts(of: page.lines.filter(filter.matches)) { try environment.output(text) }
                request.pageToken = page.nextPageToken
                if page.lines.isEmpty {
                    guard follows else { return }
                    try await Task.sleep(for: Self.interval)
                }
            }
        }
    }
}

/// The lines of the audit log that a command shows.
struct AuditLineFilter: Sendable {
    var actor: String?
    var action: String?
    var target: String?
    var result: String?

    func matches(_ line: AuditLine) -> Bool {
        Self.matches(line.actor, actor) && Self.matches(line.action, action) && Self.matches(line.target, target)
            && Self.matches(line.result, result)
    }

    /// Whether a text matches a pattern, in which `*` stands for any text; no pattern matches every text.
    static func matches(_ text: String, _ pattern: String?) -> Bool {
        guard let pattern else { return true }
        let parts = pattern.split(separator: "*", omittingEmptySubsequences: false)
        guard let first = parts.first, let last = parts.last, parts.count > 1 else { return text == pattern }
        guard text.hasPrefix(first), text.utf8.count >= first.utf8.count + last.utf8.count else { return false }
        var rest = text.dropFirst(first.count)
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let found = rest.firstRange(of: part) else { return false }
            rest = rest[found.upperBound...]
        }
        return rest.hasSuffix(last)
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
        columns = options.output.columns?.names ?? (format == .wide || format == .csv ? known : AuditLine.columns)
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
            rows: lines.map(\.fields), columns: columns, expendable: ["ids", "count", "organization", "peer", "target"])
        if isFirst, let width { table = table.fitting(into: width) }
        columns = table.columns
        let cells = isFirst ? table.cells : Array(table.cells.dropFirst())
        isFirst = false
        longest = cells.reduce(longest.isEmpty ? columns.map { _ in "" } : longest) { longest, row in
            zip(longest, row.map(TextLayout.printable)).map { $0.count < $1.count ? $1 : $0 }
        }
        let text = TextLayout.table([longest] + cells, width: width, shortening: table.shortened)
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropFirst().map(String.init)
    }
}

extension AuditLine: Resource {
    package static let columns = ["at", "actor", "organization", "action", "target", "peer", "result", "count", "ids"]

    package var fields: [ResourceField] {
        [
            .number("line_id", lineID), .time("at", at), .text("actor", actor), .text("organization", organization),
            .text("action", action), .text("target", target), .text("peer", peer), .text("result", result),
            .number("count", count), .text("ids", ids.joined(separator: " ")),
        ]
    }
}
