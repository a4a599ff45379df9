import CommandLineInterface

/// Properties of the reader and the writer of CSV.
enum CSVProperties {
    /// Texts of spreadsheets and of other programs, and one for each rule that rejects texts.
    static let seeds: [[UInt8]] =
        [
            "a,b\n1,2\n", "\u{FEFF}a;b\r\n\"1\r\n\"\"2\"\"\",\r\n\r\nx", ",\n\"\"\n", "a\"b,c", "\"a", "\"a\"b", "a\rb",
            "'=1,=2,+3,@4,\t5",
        ].map { Array($0.utf8) } + [[0x61, 0xFF]]

    /// Checks that records are in order and the same after they were written, and that an error has a line of the text.
    static func check(_ input: [UInt8]) {
        let lines = 1...(1 + input.count { $0 == 0x0A })
        let records: [CSVRecord]
        do throws(CSVError) {
            records = try read(input)
        } catch {
            precondition(lines.contains(error.line) && !error.message.isEmpty, "an error is outside of the text")
            return
        }
        precondition(records.allSatisfy { lines.contains($0.line) }, "a record is outside of the text")
        precondition(zip(records, records.dropFirst()).allSatisfy { $0.line < $1.line }, "records are not in order")
        let text = CSVWriter.text(records.map(\.fields))
        guard let again = try? read(Array([0xEF, 0xBB, 0xBF] + Array(text.utf8))) else {
            fatalError("records are refused as they were written")
        }
        precondition(again.map(\.fields) == records.map(\.fields), "records are not read as they were written")
        for field in records.flatMap(\.fields) {
            let cell = SpreadsheetCell.cell(of: field)
            precondition(SpreadsheetCell.text(of: cell) == field, "a cell is not read as it was written")
        }
    }

    private static func read(_ bytes: [UInt8]) throws(CSVError) -> [CSVRecord] {
        var reader = CSVReader(bytes)
        var records: [CSVRecord] = []
        while let record = try reader.next() { records.append(record) }
        return records
    }
}
