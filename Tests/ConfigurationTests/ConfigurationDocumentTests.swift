import Foundation
import TestSupport
import Testing

@testable import Configuration

/// docs/configuration.md and the pages of apps contain exactly the keys of the reader, each with its unit, default and bounds.
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
        return [folder.appending(path: "configuration.md")] + names.sorted().map { apps.appending(path: $0) }
    }

    /// Returns the rows of tables whose first cell is a key, in order, without code marks.
    private static func documented() throws -> [Entry] {
        let text = try documents.map { try String(contentsOf: $0, encoding: .utf8) }.joined(separator: "\n")
        return text.split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map {
                $0.trimmingCharacters(in: .whitespaces).replacing("`", with: "")
            }
            guard cells.count == 7, cells[1].contains(/^[a-z_]+(\.[a-z_]+)+$/) else { return nil }
            return Entry(key: cells[1], unit: cells[2], standard: cells[3], bounds: cells[4])
        }
    }

    @Test func theTableIsWhatTheReaderAsksFor() throws {
        let documented = try Self.documented()
        let asked = try Configuration(ServeOptions()).settings.map { setting in
            Entry(
                key: setting.key, unit: setting.rule.unit, standard: setting.rule.standard,
                bounds: setting.rule.bounds.replacing("`", with: ""))
        }
        #expect(Set(asked).subtracting(documented) == [], "not documented so")
        #expect(Set(documented).subtracting(asked) == [], "documented, and not so")
        #expect(documented.count == asked.count, "twice in the table, or asked twice")
    }

    @Test func everyKeyHasAVariableOfItsOwn() throws {
        let keys = try Configuration(ServeOptions()).settings.map(\.key)
        #expect(Set(keys.map(ConfigurationVariable.name)).count == keys.count)
        for key in keys { #expect(ConfigurationVariable.key(of: ConfigurationVariable.name(of: key)) == key) }
    }
}
