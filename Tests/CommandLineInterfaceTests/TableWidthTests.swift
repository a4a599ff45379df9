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
