import TestSupport
import Testing

@testable import CommandLineInterface

@Suite(.timeLimited) struct CSVTests {
    @discardableResult
    private static func records(_ bytes: [UInt8]) throws(CSVError) -> [CSVRecord] {
        var reader = CSVReader(bytes)
        var records: [CSVRecord] = []
        while let record = try reader.next() { records.append(record) }
        return records
    }

    @Test(arguments: [
        ("", []),
        ("a", [CSVRecord(line: 1, fields: ["a"])]),
        ("a,b\r\nc,d\r\n", [CSVRecord(line: 1, fields: ["a", "b"]), CSVRecord(line: 2, fields: ["c", "d"])]),
        ("a,b\nc,d", [CSVRecord(line: 1, fields: ["a", "b"]), CSVRecord(line: 2, fields: ["c", "d"])]),
        ("\u{FEFF}a,\n\n\r\n,b\n", [CSVRecord(line: 1, fields: ["a", ""]), CSVRecord(line: 4, fields: ["", "b"])]),
        (#""a,b","say ""no""","""#, [CSVRecord(line: 1, fields: ["a,b", #"say "no""#, ""])]),
        ("\"a\r\nb\"\nc", [CSVRecord(line: 1, fields: ["a\r\nb"]), CSVRecord(line: 3, fields: ["c"])]),
        (#"5" disk, x "#, [CSVRecord(line: 1, fields: [#"5" disk"#, " x "])]),
        ("工厂,\u{1F916}", [CSVRecord(line: 1, fields: ["工厂", "\u{1F916}"])]),
    ])
    func recordsAreReadCellByCell(text: String, expected: [CSVRecord]) throws {
        #expect(try Self.records(Array(text.utf8)) == expected)
    }

    @Test(arguments: [
        ("a\n\"b\nc\nd", 2, "the closing quote is missing"),
        ("a\n\"b\"c", 2, "a closing quote must be followed"),
        ("a\rb", 1, "a carriage return"),
    ])
    func malformedCSVIsRefusedWithItsLine(text: String, line: Int, message: String) {
        let error = #expect(throws: CSVError.self) { try Self.records(Array(text.utf8)) }
        #expect(error?.line == line)
        #expect(error?.message.hasPrefix(message) == true)
    }

    @Test func bytesThatAreNotUTF8AreRefused() {
        #expect(throws: CSVError(line: 2, message: "is not valid UTF-8")) {
            try Self.records(Array("a\n".utf8) + [0x62, 0xE4])
        }
        // The beginning of a spreadsheet's "Unicode text".
        #expect(throws: CSVError(line: 1, message: "is not valid UTF-8")) { try Self.records([0xFF, 0xFE, 0x61, 0]) }
    }

    @Test func writtenRowsAreReadBack() throws {
        let rows = [["a", "b,c", ""], ["\"", "x\ny\r\nz", " d "], ["", "", "é"]]
        #expect(try Self.records(Array(CSVWriter.text(rows).utf8)).map(\.fields) == rows)
    }

    @Test(arguments: [
        ("=1+1", "'=1+1"), ("+49", "'+49"), ("-1", "'-1"), ("@a", "'@a"), ("\t=1", "'\t=1"), ("'=1", "''=1"),
        ("''-", "'''-"), ("=\u{301}x", "'=\u{301}x"), ("'a", "'a"), ("a=1", "a=1"), ("'", "'"), ("", ""),
    ])
    func noCellIsAFormula(text: String, cell: String) {
        #expect(SpreadsheetCell.cell(of: text) == cell)
        #expect(SpreadsheetCell.text(of: cell) == text)
    }

    /// Any bytes are either records or an error: tests every sequence of the significant bytes up to length 4.
    @Test func acceptedBytesAreWrittenAndReadBack() {
        let special: [UInt8] = Array("\",\r\na".utf8) + [0xEF, 0xBB, 0xBF, 0xFF]
        for length in 0...4 {
            var indices = [Int](repeating: 0, count: length)
            while true {
                let bytes = indices.map { special[$0] }
                if let records = try? Self.records(bytes) {
                    let rows = records.map(\.fields)
                    // A cell is written before them, because a byte order mark at the beginning belongs to the file and not to the
                    // cell.
                    let again = try? Self.records(Array(("x\n" + CSVWriter.text(rows)).utf8)).dropFirst().map(\.fields)
                    #expect(again == rows, "\(bytes)")
                }
                guard let place = indices.lastIndex(where: { $0 < special.count - 1 }) else { break }
                indices[place] += 1
                for later in indices.indices where later > place { indices[later] = 0 }
            }
        }
    }
}
