import Basics
import CommandLineInterface
import DeviceInit
import Proto
import RPC

/// A line of a table, with the values of one device; `nil` if the table does not have the column.
struct DeviceLine: Sendable, Hashable {
    let line: Int
    let deviceID: String
    /// The name of a suite as in `SuiteArgument`; empty = unchanged.
    let suite: String
    let displayName: String?
    let description: String?
    /// All tags, from the column `tags`.
    let allTags: [String: String]?
    /// Single tags, from the columns `tag:KEY`; an empty value removes the tag.
    let singleTags: [String: String]

    /// Returns the new tags of a device whose current ones are `tags`.
    func tags(over tags: [String: String]) -> [String: String] {
        (allTags ?? tags).merging(singleTags) { $1 }.filter { !(singleTags[$0.key]?.isEmpty ?? false) }
    }
}

/// An error in a table, with its place.
struct TableProblem: Error, Sendable, Hashable {
    let line: Int
    /// Empty if it concerns the whole line.
    var column = ""
    /// The reason, without a full stop.
    let message: String

    /// Returns the message in the format of compilers, so that editors find the place.
    func text(in file: String) -> String {
        "\(file):\(line): \(column.isEmpty ? "" : "\(column): ")\(message)"
    }
}

/// A table of devices, with the columns that `device import` reads and `device export` writes.
struct DeviceTable: Sendable {
    static let columns = ["device_id", "suite", "display_name", "description", "tags"]
    private static let tagPrefix = "tag:"
    /// The largest number of devices in one table; a limit for the memory of the importing process.
    private static let maximumDevices = 100_000
    /// The largest number of reported errors.
    private static let maximumProblems = 1000

    private(set) var lines: [DeviceLine] = []
    private(set) var problems: [TableProblem] = []
    /// The suites of lines that have a problem in another column: whether they exist is checked, too.
    private(set) var unreadSuites: [(line: Int, name: String)] = []

    /// Reads a file; its errors are put into `problems`, its valid lines into `lines`.
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

    /// Reports all errors of the header.
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
                    if let name = DeviceNames.suite(number: cell) { try DeviceRules.suite(name) }
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
                // The column's name already precedes the message.
                if message.hasPrefix("\(name) ") { message.removeFirst(name.count + 1) }
                problems.append(TableProblem(line: record.line, column: name, message: message))
            }
        }
        guard problems.count == before, let deviceID = cells["device_id"] else {
            if let suite = cells["suite"] { unreadSuites.append((record.line, suite)) }
            return nil
        }
        return DeviceLine(
            line: record.line, deviceID: deviceID, suite: cells["suite"] ?? "",
            displayName: cells["display_name"], description: cells["description"], allTags: allTags,
            singleTags: singleTags)
    }

    /// Returns the CSV file of `devices`.
    static func csv(of devices: [Device]) -> String {
        CSVWriter.text(
            [columns]
                + devices.map {
                    [$0.deviceID, $0.suite, $0.displayName, $0.description, TagList.text($0.tags)]
                        .map(SpreadsheetCell.cell)
                })
    }
}

/// The tags in one cell of a table: `KEY=VALUE;KEY=VALUE`.
///
/// A backslash escapes the next character: a semicolon, an equals sign in a key, a space before a key, and the backslash itself.
enum TagList {
    struct Problem: Error, Hashable {
        /// The reason, without a full stop.
        let message: String
    }

    static func tags(_ text: String) throws(Problem) -> [String: String] {
        var tags: [String: String] = [:]
        var key: String?
        var word = ""
        var isEscaped = false

        func add() throws(Problem) {
            guard let key else {
                if word.isEmpty { return }
                throw Problem(message: "must be KEY=VALUE;KEY=VALUE, not '\(word)'")
            }
            guard tags.updateValue(word, forKey: key) == nil else {
                throw Problem(message: "has the tag \(key) twice")
            }
        }

        for character in text.unicodeScalars {
            switch character {
            case _ where isEscaped:
                word.unicodeScalars.append(character)
                isEscaped = false
            case "\\":
                isEscaped = true
            case ";":
                try add()
                (key, word) = (nil, "")
            case "=" where key == nil:
                (key, word) = (word, "")
            case " " where key == nil && word.isEmpty:
                break
            default:
                word.unicodeScalars.append(character)
            }
        }
        guard !isEscaped else { throw Problem(message: "ends with a backslash") }
        try add()
        return tags
    }

    /// Returns the text of the tags, sorted by key, so that equal tags have equal texts.
    static func text(_ tags: [String: String]) -> String {
        tags.sorted { $0.key < $1.key }.map { "\(escaped($0.key, ";=\\ "))=\(escaped($0.value, ";\\"))" }
            .joined(separator: ";")
    }

    private static func escaped(_ text: String, _ special: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            if special.unicodeScalars.contains(scalar) { result += "\\" }
            result.unicodeScalars.append(scalar)
        }
        return result
    }
}
