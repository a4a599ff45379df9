import Basics
import DeviceClient
import Glibc
import JSON

/// The agent's configuration file: one JSON object.
package struct AgentConfigurationFile {
    /// All errors of the file, each a sentence without a full stop.
    package struct Faults: Error, Sendable, Hashable {
        package let messages: [String]
    }

    /// The shortest valid file.
    package static let shortest = #"{"directories": [{"path": "/data/recordings"}]}"#

    private static let longestWait: Int64 = 86_400

    private var faults: [String] = []

    /// - Throws: `Faults`.
    package static func read(_ path: String) throws(Faults) -> AgentConfiguration {
        let bytes: [UInt8]?
        do throws(PrivateFile.Failure) {
            bytes = try PrivateFile.read(path)
        } catch {
            throw Faults(messages: ["the file cannot be read: \(String(cString: strerror(error.code)))"])
        }
        guard let bytes else {
            throw Faults(messages: ["the file does not exist; the shortest configuration is \(shortest)"])
        }
        return try parse(bytes)
    }

    package static func parse(_ bytes: [UInt8]) throws(Faults) -> AgentConfiguration {
        let members: [String: JSONValue]?
        // Some editors put a byte order mark in front.
        let text = bytes.starts(with: "\u{FEFF}".utf8) ? Array(bytes.dropFirst(3)) : bytes
        do throws(JSONError) {
            members = try JSONValue(parsing: text).members
        } catch {
            let position = JSONPosition(of: error.offset, in: text)
            throw Faults(messages: ["the file is not valid JSON, \(position)"])
        }
        guard let members else { throw Faults(messages: ["the file must be one object: { … }"]) }
        var file = AgentConfigurationFile()
        let configuration = file.configuration(members)
        guard file.faults.isEmpty else { throw Faults(messages: file.faults) }
        return configuration
    }

    // MARK: Sections

    private mutating func configuration(_ members: [String: JSONValue]) -> AgentConfiguration {
        var reader = AgentConfigurationSection(members, at: "")
        var result = AgentConfiguration()
        for (index, value) in reader.list("directories").enumerated() {
            guard let members = value.members else {
                faults.append("directories[\(index)] must be an object: { … }")
                continue
            }
            result.directories.append(directory(members, at: "directories[\(index)]"))
        }
        checkOverlap(result.directories)
        if result.directories.isEmpty { faults.append("directories must name at least one directory") }
        result.rates.standard = reader.rate("rate")
        for (index, value) in reader.list("rates").enumerated() {
            guard let members = value.members else {
                faults.append("rates[\(index)] must be an object: { … }")
                continue
            }
            if let window = window(members, at: "rates[\(index)]") { result.rates.windows.append(window) }
        }
        result.minimumFree = reader.bytes("minimum_free") ?? 0
        result.files = Int(reader.integer("files", 1...16) ?? 2)
        result.parts = Int(reader.integer("parts", 1...64) ?? 1)
        result.rescan = .seconds(reader.integer("rescan_seconds", 1...Self.longestWait) ?? 600)
        result.metricsFile = reader.text("metrics_file")
        if result.metricsFile?.hasPrefix("/") == false { faults.append("metrics_file must be an absolute path") }
        if result.minimumFree == 0, result.directories.contains(where: { $0.afterUpload == .deleteWhenFull }) {
            faults.append("minimum_free is required where after_upload is delete_when_full")
        }
        faults += reader.finish()
        return result
    }

    /// A file belongs to one directory: its rules say what becomes of it.
    private mutating func checkOverlap(_ directories: [AgentConfiguration.Directory]) {
        for (index, directory) in directories.enumerated() {
            for (other, earlier) in directories[..<index].enumerated() {
                if directory.path == earlier.path {
                    faults.append(
                        "directories[\(index)].path must not be that of directories[\(other)]: '\(earlier.path)'")
                } else if directory.path.isBelow(earlier.path) || earlier.path.isBelow(directory.path) {
                    faults.append(
                        "directories[\(index)].path must not overlap with that of directories[\(other)]: '\(earlier.path)'"
                    )
                }
            }
        }
    }

    private mutating func directory(_ members: [String: JSONValue], at place: String) -> AgentConfiguration.Directory {
        var reader = AgentConfigurationSection(members, at: place)
        var result = AgentConfiguration.Directory(path: reader.text("path") ?? "")
        if !result.path.hasPrefix("/") { faults.append("\(place).path must be an absolute path") }
        let names = result.path.split(separator: "/")
        // Their meaning depends on links, and each file must have one path only.
        if names.contains(".") || names.contains("..") {
            faults.append("\(place).path must not have the names . and ..: '\(result.path)'")
        }
        result.path = "/" + names.joined(separator: "/")
        result.filter = FileFilter(include: patterns(&reader, "include"), exclude: patterns(&reader, "exclude"))
        result.isRecursive = reader.flag("recursive") ?? true
        result.priority = reader.integer("priority", -1000...1000) ?? 0
        result.settling = .seconds(reader.integer("settle_seconds", 1...Self.longestWait) ?? 10)
        if let word = reader.text("after_upload") {
            if let choice = AgentConfiguration.AfterUpload(rawValue: word) {
                result.afterUpload = choice
            } else {
                let words = AgentConfiguration.AfterUpload.allCases.map(\.rawValue).joined(separator: ", ")
                faults.append("\(place).after_upload must be one of \(words), not '\(word)'")
            }
        }
        for (key, value) in reader.object("tags").sorted(by: { $0.key < $1.key }) {
            guard case .string(let text) = value, !key.isEmpty else {
                faults.append("\(place).tags.\(key) must be a string")
                continue
            }
            do throws(TextTemplate.Problem) {
                try result.tags.set(key, TextTemplate(text))
            } catch {
                faults.append("\(place).tags.\(key) \(error.predicate)")
            }
        }
        faults += reader.finish()
        return result
    }

    private mutating func patterns(_ reader: inout AgentConfigurationSection, _ key: String) -> [FilePattern] {
        reader.list(key).enumerated().compactMap { index, value in
            if case .string(let text) = value, let pattern = FilePattern(text) { return pattern }
            faults.append("\(reader.place(key))[\(index)] must be a pattern such as *.mcap or runs/**/*.log")
            return nil
        }
    }

    private mutating func window(_ members: [String: JSONValue], at place: String) -> RatePlan.Window? {
        var reader = AgentConfigurationSection(members, at: place)
        let times = ["from", "to"].compactMap { key -> Int? in
            let minute = reader.text(key).flatMap(RatePlan.minute)
            if minute == nil { faults.append("\(place).\(key) must be a time of day such as 08:30") }
            return minute
        }
        let isGiven = members["rate"] != nil
        let rate = reader.rate("rate")
        if !isGiven { faults.append("\(place).rate is missing") }
        faults += reader.finish()
        guard times.count == 2 else { return nil }
        return RatePlan.Window(start: times[0], end: times[1], rate: rate)
    }
}

extension String {
    /// Whether the path, absolute and without superfluous slashes, is in `directory` or in one below it.
    fileprivate func isBelow(_ directory: String) -> Bool { hasPrefix(directory == "/" ? "/" : directory + "/") }
}

/// The members of one object, read by name; members that are never read are errors.
struct AgentConfigurationSection {
    private let members: [String: JSONValue]
    private let prefix: String
    private var known: Set<String> = []
    private var faults: [String] = []

    init(_ members: [String: JSONValue], at place: String) {
        self.members = members
        prefix = place.isEmpty ? "" : "\(place)."
    }

    func place(_ key: String) -> String { prefix + key }

    private mutating func value<Value>(_ key: String, _ rule: String, _ read: (JSONValue) -> Value?) -> Value? {
        known.insert(key)
        guard let given = members[key] else { return nil }
        if let value = read(given) { return value }
        faults.append("\(place(key)) \(rule)")
        return nil
    }

    mutating func text(_ key: String) -> String? {
        value(key, "must be a string that is not empty") {
            if case .string(let text) = $0, !text.isEmpty { text } else { nil }
        }
    }

    mutating func flag(_ key: String) -> Bool? {
        value(key, "must be true or false") { if case .bool(let flag) = $0 { flag } else { nil } }
    }

    mutating func list(_ key: String) -> [JSONValue] {
        value(key, "must be a list: [ … ]") { $0.elements } ?? []
    }

    mutating func object(_ key: String) -> [String: JSONValue] {
        value(key, "must be an object: { … }") { $0.members } ?? [:]
    }

    mutating func integer(_ key: String, _ range: ClosedRange<Int64>) -> Int64? {
        value(key, "must be a whole number, \(range.lowerBound) to \(range.upperBound)") { given in
            if let number = given.integer, range.contains(number) { number } else { nil }
        }
    }

    /// Returns a number of bytes, written as a number or as a text with a unit.
    mutating func bytes(_ key: String) -> Int64? {
        value(key, "must be a number of bytes such as 1048576 or \"5GiB\"") { $0.bytes }
    }

    /// Returns bytes per second; `"unlimited"` means no limit.
    mutating func rate(_ key: String) -> Int64? {
        let rule = "must be a number of bytes a second such as \"500KB\", 0 to send nothing, or \"unlimited\""
        let value: Int64? = value(key, rule) { given in
            if case .string("unlimited") = given { -1 } else { given.bytes }
        }
        return value == -1 ? nil : value
    }

    func finish() -> [String] {
        faults
            + members.keys.filter { !known.contains($0) }.sorted().map { key in
                "unknown key \(place(key))\(Suggestion.text(for: key, among: known.sorted()))"
            }
    }
}

extension JSONValue {
    /// The value as a number of bytes, written as a number or as a text with a unit.
    fileprivate var bytes: Int64? {
        if let integer { return integer >= 0 && integer < .max ? integer : nil }
        return stringValue.flatMap { ByteQuantity.bytes($0) }
    }
}
