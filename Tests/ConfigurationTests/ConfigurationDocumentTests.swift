import Commands
import Foundation
import Serve
import TestSupport
import Testing

@testable import Configuration
@testable import Settings

/// docs/configuration.md, docs/object-engines.md, docs/postgresql.md and the pages of apps contain exactly the keys of the reader, each with its unit, default and bounds.
@Suite(.timeLimited) struct ConfigurationDocumentTests {
    private struct Entry: Hashable, CustomStringConvertible {
        let key: String
        let unit: String
        let standard: String
        let bounds: String

        var description: String { "| `\(key)` | \(unit) | \(standard) | \(bounds) |" }
    }

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "docs")

    private static var documents: [URL] {
        let apps = folder.appending(path: "apps")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: apps.path)) ?? []
        let own = ["configuration.md", "object-engines.md", "postgresql.md"].map { folder.appending(path: $0) }
        return own + names.sorted().map { apps.appending(path: $0) }
    }

    /// An entry of every list, and of every kind; what they lack is known nevertheless.
    private static let lists = """
        {
            object_store: { static_keys: [{}], buckets: { sample: { prefix: "sample/" } } },
            webhooks: { sample: { url: "http://h/" } },
            identity: { providers: { sample: { issuer: "https://h", users: {}, service_accounts: [{}] } } },
            copy: { destinations: [
                { kind: "s3", endpoint: "http://h" }, { kind: "oss", endpoint: "http://h" }, { kind: "directory" },
            ] },
            backup: { schedules: [
                { name: "a", kind: "s3", endpoint: "http://h", bucket: "cold", access_key_id: "k", secret_env: "PATH" },
                { name: "b", kind: "directory", root: "/x" },
            ] },
        }
        """

    /// Returns the rows of tables whose first cell is a key, in order, without code marks.
    private static func documented(_ keys: Regex<Substring>) throws -> [Entry] {
        let text = try documents.map { try String(contentsOf: $0, encoding: .utf8) }.joined(separator: "\n")
        return text.split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map {
                $0.trimmingCharacters(in: .whitespaces).replacing("`", with: "")
            }
            guard cells.count == 7, cells[1].wholeMatch(of: keys) != nil else { return nil }
            return Entry(key: cells[1], unit: cells[2], standard: cells[3], bounds: cells[4])
        }
    }

    @Test func theTableIsWhatTheReaderAsksFor() throws {
        let documented = try Self.documented(/[a-z_]+(?:\.[a-z_]+)+/)
        let read = try Configuration(ServeOptions(), apps: Program.apps).settings.map { setting in
            Entry(
                key: setting.key, unit: setting.rule.unit, standard: setting.rule.standard,
                bounds: setting.rule.bounds.replacing("`", with: ""))
        }
        #expect(Set(read).subtracting(documented) == [], "not documented so")
        #expect(Set(documented).subtracting(read) == [], "documented, and not so")
        #expect(documented.count == read.count, "twice in the table, or asked twice")
    }

    @Test func tableOfMembersIsWhatTheReaderAsksFor() throws {
        let folder = try TestFolder()
        let path = folder.path + "/gateway.json5"
        try Self.lists.write(toFile: path, atomically: true, encoding: .utf8)
        let reader = try SettingsReader(path: path)
        _ = Configuration(reader, apps: Program.apps)
        #expect(!reader.faults.contains { $0.description.contains("unknown key") })
        var read: [Entry] = []
        for setting in reader.settings where setting.key.contains("[") || setting.key.contains("sample") {
            let key = setting.key.replacing(/\[\d+\]/, with: "[]").replacing("sample", with: "NAME")
            // The kinds of destinations have members in common.
            if read.contains(where: { $0.key == key }) { continue }
            read.append(
                Entry(
                    key: key, unit: setting.rule.unit,
                    standard: setting.rule.standard.replacing("sample", with: "NAME"),
                    bounds: setting.rule.bounds.replacing("`", with: "")))
        }
        let documented = try Self.documented(/[a-z_]+(?:\.[a-z_]+)*(?:\[\]|\.NAME)\.[a-z_.\[\]]+/)
        #expect(Set(read).subtracting(documented) == [], "not documented so")
        #expect(Set(documented).subtracting(read) == [], "documented, and not so")
        let lists = reader.settings.filter { $0.rule.unit == "list of objects" || $0.rule.unit == "object of objects" }
        #expect(lists.allSatisfy { $0.source != .standard }, "every list has a sample")
    }

    @Test func everyKeyHasAVariableOfItsOwn() throws {
        let keys = try Configuration(ServeOptions(), apps: Program.apps).settings.map(\.key)
        #expect(Set(keys.map(ConfigurationVariable.name)).count == keys.count)
        for key in keys { #expect(ConfigurationVariable.key(of: ConfigurationVariable.name(of: key)) == key) }
    }
}
