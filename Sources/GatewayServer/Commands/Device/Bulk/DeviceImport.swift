import Basics
import CommandLineInterface
import DeviceInit
import HTTPClient
import JSON
import Proto

/// `data-gateway device import`
struct DeviceImport: Command {
    static let name = "import"
    static let summary = "Register and update devices from a CSV file"
    static let discussion = [
        """
        The columns are device_id and any of suite, display_name, description, tags (KEY=VALUE;KEY=VALUE) and tag:KEY. \
        New devices are registered; existing devices are updated where they differ, so that a second run changes \
        nothing. Columns and devices that are not in the file stay unchanged, and an empty cell of the column suite leaves \
        the device in its suite.
        """,
        """
        The whole file is checked before the first change. If it has errors, they are listed by line and \
        column, and nothing is changed.
        """,
    ]

    static var parameters: [Parameter<Self>] {
        [
            .argument("FILE", \.path, "The CSV file (RFC 4180, UTF-8) with a header; - = standard input"),
            .flag("--dry-run", \.isDry, "Show the changes without making them"),
        ] + ConnectionOptions.parameters(of: .admin).map { $0.at(\.connection) }
    }

    /// The number of concurrent calls: the gateway commits concurrent changes together.
    private static let width = 16
    private static let maximumBytes = 64 << 20

    var path = ""
    var isDry = false
    var connection = ConnectionOptions()

    private var isInput: Bool { path == "-" }
    /// The file's name in messages.
    private var source: String { isInput ? "standard input" : path }

    func run(in environment: CommandEnvironment) async -> ExitCode {
        await environment.attempt(asJSON: connection.json) {
            let table = DeviceTable(csv: try contents())
            let changes: [DeviceChange]
            let registry: DeviceManagementServiceClient<SignedInConnection>
            do {
                let gateway = try await SignedInConnection(connection, listener: .admin, in: environment)
                registry = DeviceManagementServiceClient(gateway)
                changes = try await plan(table, registry)
            } catch let failure as ClientFailure where failure.faults.isEmpty && !table.problems.isEmpty {
                // The faults of the file are known without the gateway.
                throw refusal(table.problems)
            }
            if !isDry {
                let problems = try await apply(changes, registry)
                guard problems.isEmpty else { throw refusal(problems, of: changes.count) }
            }
            let outcome = DeviceImportOutcome(changes: changes, isDry: isDry)
            try environment.output(connection.json ? outcome.reply.json.text : outcome.reply.text)
        }
    }

    private func contents() throws(ClientFailure) -> [UInt8] {
        let bytes: [UInt8]
        do throws(FileReader.Failure) {
            let limit = Self.maximumBytes + 1
            bytes = isInput ? try FileReader.standardInput(limit: limit) : try FileReader(path).contents(limit: limit)
        } catch {
            throw ClientFailure("cannot read \(source): \(error.reason)")
        }
        guard bytes.count <= Self.maximumBytes else {
            throw ClientFailure("\(source) must be at most \(ByteCount.text(Int64(Self.maximumBytes)))")
        }
        return bytes
    }

    /// Compares the table with the gateway's devices and suites.
    ///
    /// - Throws: ``refusal(_:of:)`` with the problems of the table, too.
    private func plan(
        _ table: DeviceTable, _ registry: DeviceManagementServiceClient<SignedInConnection>
    ) async throws -> [DeviceChange] {
        let suites = SuiteNames(try await registry.allSuites())
        let devices = Dictionary(
            try await registry.allDevices().map { ($0.deviceID, $0) }, uniquingKeysWith: { first, _ in first })
        var problems = table.problems
        for unread in table.unreadSuites {
            do throws(ClientFailure) {
                _ = try suites.name(of: unread.name)
            } catch {
                problems.append(TableProblem(line: unread.line, column: "suite", message: error.message))
            }
        }
        // The list of all devices does not contain them.
        let retired = Set(try await registry.allDevices(ListDevicesRequest(status: .retired)).map(\.deviceID))
        var changes: [DeviceChange] = []
        for line in table.lines {
            do throws(TableProblem) {
                guard !retired.contains(line.deviceID) else {
                    throw TableProblem(
                        line: line.line, column: "device_id", message: DeviceRules.retired(line.deviceID))
                }
                changes.append(try DeviceChange(line, over: devices[line.deviceID], suites: suites))
            } catch {
                problems.append(error)
            }
        }
        guard problems.isEmpty else { throw refusal(problems) }
        return changes
    }

    /// - Returns: the changes that the gateway refused.
    /// - Throws: if it cannot be reached any more: then the remaining calls would fail, too.
    private func apply(
        _ changes: [DeviceChange], _ registry: DeviceManagementServiceClient<SignedInConnection>
    ) async throws -> [TableProblem] {
        var rest = changes.filter { $0.kind != .none }[...]
        return try await withThrowingTaskGroup(of: TableProblem?.self) { group in
            var problems: [TableProblem] = []
            func begin() {
                guard let change = rest.popFirst() else { return }
                group.addTask {
                    do {
                        try await change.apply(registry)
                        return nil
                    } catch let failure as ClientFailure where failure.exitCode == .refused {
                        return TableProblem(line: change.line, column: "device_id", message: failure.message)
                    }
                }
            }
            for _ in 0..<Self.width { begin() }
            while let problem = try await group.next() {
                if let problem { problems.append(problem) }
                begin()
            }
            return problems
        }
    }

    /// Returns the error for the problems of the file.
    ///
    /// - Parameter count: the number of lines in the file, if the others were applied.
    private func refusal(_ problems: [TableProblem], of count: Int? = nil) -> ClientFailure {
        let sum =
            if let count {
                "\(problems.count) of \(count) lines were refused, the others were imported: correct the file and import it again"
            } else {
                "\(source) has \(TextLayout.count(problems.count, "problem")): nothing was changed"
            }
        var failure = ClientFailure(sum)
        failure.faults = problems.sorted { ($0.line, $0.column) < ($1.line, $1.column) }.map { $0.text(in: source) }
        return failure
    }
}

/// `data-gateway device export`
struct DeviceExport: ClientCommand {
    static let name = "export"
    static let summary = "Print all devices as CSV for 'device import'"

    static var parameters: [Parameter<Self>] { connectionParameters }

    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let devices = try await DeviceManagementServiceClient(gateway).allDevices()
        return Reply(json: Reply("devices", devices).json, text: DeviceTable.csv(of: devices))
    }
}
