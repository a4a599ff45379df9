import Basics
import CommandLineInterface
import DeviceInit
import Proto
import RPC

/// What a line of a table says of a device; `nil` where the table has no such column.
struct DeviceLine: Sendable, Hashable {
    let line: Int
    let deviceID: String
    /// `deviceSuites/7`; empty = says nothing.
    let suite: String
    let displayName: String?
    let description: String?
    /// All tags, from the column `tags`.
    let allTags: [String: String]?
    /// Single ones, from the columns `tag:KEY`; empty = the device is not to have it.
    let singleTags: [String: String]

    /// The tags of a device that has `tags` now.
    func tags(over tags: [String: String]) -> [String: String] {
        (allTags ?? tags).merging(singleTags) { $1 }.filter { !(singleTags[$0.key]?.isEmpty ?? false) }
    }
}

/// What is wrong with a table, and where.
struct TableProblem: Error, Sendable, Hashable {
    let line: Int
    /// Empty where it is the whole line.
    var column = ""
    /// Without a full stop.
    let message: String

    /// The problem in the form that compilers use, so that editors find the place.
    func text(in file: String) -> String {
        "\(file):\(line): \(column.isEmpty ? "" : "\(column): ")\(message)"
    }
}

/// Devices as a table: the columns that `device import` reads and `device export` writes.
struct DeviceTable: Sendable {
    static let columns = ["device_id", "suite", "display_name", "description", "tags"]
    private static let tagPrefix = "tag:"
    /// The most devices in one table: more would fill the memory of the importing process.
    private static let maximumDevices = 100_000
    /// The most problems that are reported.
    private static let maximumProblems = 1000

    private(set) var lines: [DeviceLine] = []
    private(set) var problems: [TableProblem] = []

    /// Reads a file; whatever is wrong with it is in `problems`, the lines that are right in `lines`.
    init(csv bytes: [UInt8]) {
        var reader = CSVReader(bytes)
        do throws(CSVError) {
            try read(&reader)
        } catch {
            problems.append(TableProblem(line: error.line, message: error.message))
        }
    }

    private mutating func read(_ reader: inout CSVReader) throws(CSVError) {
        guard let header = try reader.next() else {
            problems.append(
                TableProblem(line: 1, message: "must have a header: \(Self.columns.joined(separator: ","))"))
            return
        }
        let names = header.fields
        guard check(names, line: header.line) else { return }
        var seen: [String: Int] = [:]
        while let record = try reader.next() {
            guard lines.count < Self.maximumDevices, problems.count < Self.maximumProblems else {
                let message =
                    problems.count < Self.maximumProblems
                    ? "a file can have at most \(Self.maximumDevices) devices: split the file"
                    : "the rest was not read after \(Self.maximumProblems) problems"
                problems.append(TableProblem(line: record.line, message: message))
                return
            }
            guard record.fields.count == names.count else {
                problems.append(
                    TableProblem(
                        line: record.line,
                        message: "has \(record.fields.count) fields, but the header has \(names.count)"))
                continue
            }
            guard let line = read(record, names) else { continue }
            if let earlier = seen.updateValue(line.line, forKey: line.deviceID) {
                let message = "\(line.deviceID) is already in line \(earlier)"
                problems.append(TableProblem(line: line.line, column: "device_id", message: message))
            } else {
                lines.append(line)
            }
        }
    }

    /// Says all that is wrong with the header.
    private mutating func check(_ names: [String], line: Int) -> Bool {
        func problem(_ column: String, _ message: String) {
            problems.append(TableProblem(line: line, column: column, message: message))
        }
        for name in names where !Self.columns.contains(name) {
            if name == Self.tagPrefix {
                problem(name, "must be followed by a key")
            } else if !name.hasPrefix(Self.tagPrefix) {
                problem(name, "the column is unknown\(Suggestion.text(for: name, among: Self.columns))")
            }
        }
        for (name, count) in Dictionary(names.map { ($0, 1) }, uniquingKeysWith: +).sorted(by: { $0.key < $1.key })
        where count > 1 {
            problem(name, "is given \(count) times")
        }
        if !names.contains("device_id") { problem("device_id", "is missing") }
        return problems.isEmpty
    }

    private mutating func read(_ record: CSVRecord, _ names: [String]) -> DeviceLine? {
        var cells: [String: String] = [:]
        var allTags: [String: String]?
        var singleTags: [String: String] = [:]
        let before = problems.count
        for (name, cell) in zip(names, record.fields.map(SpreadsheetCell.text)) {
            do {
                switch name {
                case "device_id":
                    try DeviceRules.id(cell)
                case "suite":
                    try DeviceRules.suite(DeviceNames.suite(cell))
                case "display_name":
                    try DeviceRules.displayName(cell)
                case "description":
                    try DeviceRules.description(cell)
                case "tags":
                    let tags = try TagList.tags(cell)
                    try DeviceRules.tags(tags)
                    allTags = tags
                default:
                    let key = String(name.dropFirst(Self.tagPrefix.count))
                    try DeviceRules.tags([key: cell])
                    singleTags[key] = cell
                }
                cells[name] = cell
            } catch {
                var message = (error as? RPCError)?.message ?? (error as? TagList.Problem)?.message ?? "\(error)"
                // The column stands before the message already.
                if message.hasPrefix("\(name) ") { message.removeFirst(name.count + 1) }
                problems.append(TableProblem(line: record.line, column: name, message: message))
            }
        }
        guard problems.count == before, let deviceID = cells["device_id"] else { return nil }
        return DeviceLine(
            line: record.line, deviceID: deviceID, suite: DeviceNames.suite(cells["suite"] ?? ""),
            displayName: cells["display_name"], description: cells["description"], allTags: allTags,
            singleTags: singleTags)
    }

    /// The file that says of `devices` what they are.
    static func csv(of devices: [Device]) -> String {
        CSVWriter.text(
            [columns]
                + devices.map {
                    [$0.deviceID, $0.suite, $0.displayName, $0.description, TagList.text($0.tags)]
                        .map(SpreadsheetCell.cell)
                })
    }
}
