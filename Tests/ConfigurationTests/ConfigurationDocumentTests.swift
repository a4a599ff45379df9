import Foundation
import TestSupport
import Testing

@testable import Configuration

/// docs/configuration.md contains exactly the keys of the reader, each with its unit, default and bounds.
@Suite(.timeLimited) struct ConfigurationDocumentTests {
    private struct Entry: Hashable, CustomStringConvertible {
        let key: String
        let unit: String
        let standard: String
        let bounds: String

        var description: String { "| `\(key)` | \(unit) | \(standard) | \(bounds) |" }
    }

    private static let document = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "docs/configuration.md")

    /// Returns the rows of tables whose first cell is a key, in order, without code marks.
    private static func documented() throws -> [Entry] {
        try String(contentsOf: document, encoding: .utf8).split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map {
                $0.trimmingCharacters(in: .whitespaces).replacing("`", with: "")
            }
            guard cells.count == 7, cells[1].contains(/^[a-z_]+\.[a-z_]+$/) else { return nil }
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
