import Basics
import TestSupport
import Testing

@testable import CommandLineInterface

/// Tables fit the terminal, and times are local.
@Suite(.timeLimited) struct TableWidthTests {
    private static let rows = [
        ["NAME", "TAGS", "FILE ID"],
        [String(repeating: "n", count: 40), String(repeating: "t", count: 60), String(repeating: "f", count: 32)],
        ["short", "a=b", String(repeating: "0", count: 32)],
    ]

    @Test(arguments: [60, 80, 100, 200])
    func longCellsAreCutToFit(width: Int) {
        let lines = TextLayout.table(Self.rows, width: width, shortening: [0, 1]).split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= width })
        #expect(lines[1].hasSuffix(String(repeating: "f", count: 32)))
        #expect(lines[1].contains("…") == (width < 136))
        #expect(lines[2].hasPrefix("short"))
    }

    @Test func columnsThatMayNotBeCutStayWhole() {
        let lines = TextLayout.table(Self.rows, width: 20, shortening: [0]).split(separator: "\n")
        #expect(lines[1].contains(String(repeating: "t", count: 60)))
        #expect(lines[1].hasPrefix(String(repeating: "n", count: 9) + "…"))
    }

    private static let upload = [
        ResourceField.text("file_name", String(repeating: "n", count: 30)),
        .text("upload_id", String(repeating: "f", count: 36)), .text("state", "waiting for the device"),
        .text("at", "2026-11-23T08:00:00+08:00"), .text("actor", "user:system/admin"),
    ]

    @Test(arguments: [80, 100, 120])
    func timesAndNamesStayWholeWhileOthersAreCut(width: Int) {
        let table = ListTable(
            rows: [Self.upload], columns: ["at", "actor", "file_name", "state"], expendable: ["state"])
        let text = table.fitting(into: width).text()
        #expect(text.contains("2026-11-23T08:00:00+08:00  user:system/admin"))
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= width })
    }

    @Test func essentialColumnStaysInTheNarrowestTerminal() {
        let table = ListTable(
            rows: [Self.upload], columns: ["file_name", "state", "upload_id"], expendable: ["state"],
            essential: "upload_id")
        #expect(table.fitting(into: 50).columns == ["file_name", "upload_id"])
        #expect(table.fitting(into: 40).columns == ["upload_id"])
    }

    @Test func wideCharactersCountTwice() {
        let rows = [["A", "B"], [String(repeating: "名", count: 20), "x"]]
        let lines = TextLayout.table(rows, width: 15, shortening: [0]).split(separator: "\n")
        #expect(lines[1].hasPrefix(String(repeating: "名", count: 5) + "…"))
    }

    @Test(arguments: [
        (0, "2026-11-23T00:00:00Z"), (28_800, "2026-11-23T08:00:00+08:00"), (-12_600, "2026-11-22T20:30:00-03:30"),
    ])
    func timesHaveTheirOffset(offset: Int64, text: String) {
        #expect(LocalTime.text(UnixTime(seconds: 1_795_392_000), offset: offset) == text)
    }
}
