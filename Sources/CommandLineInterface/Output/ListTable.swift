/// A list as a table: a column for each field, a row for each resource, and a header.
package struct ListTable: Sendable {
    package let rows: [[ResourceField]]
    package private(set) var columns: [String]
    /// The columns that a narrow terminal does without, the least important first. Others follow if that is not enough.
    private let expendable: [String]
    /// The column that stays even without the first one; `nil` = none does.
    private let essential: String?
    /// The number of columns of the terminal; `nil` = unlimited.
    private var width: Int?

    package init(
        rows: [[ResourceField]], columns: [String], expendable: [String] = [], essential: String? = nil
    ) {
        self.essential = essential
        self.rows = rows
        self.columns = columns
        self.expendable = expendable
    }

    /// Returns the table with the columns that fit into a terminal.
    package func fitting(into width: Int) -> ListTable {
        var table = self
        table.width = width
        for column in expendable where table.leastWidth(table.shortenedBesideName) > width {
            table.columns.removeAll { $0 == column }
        }
        // If the name is cut off as well and the table is still too wide: times, and the others from the right; the first stays.
        let others = table.columns.dropFirst().reversed().filter { !["name", "url", "actor", essential].contains($0) }
        for column in others.filter(Self.isTime) + others.filter({ !Self.isTime($0) })
        where table.leastWidth(table.shortened) > width {
            table.columns.removeAll { $0 == column }
        }
        if let essential, table.leastWidth(table.shortened) > width { table.columns = [essential] }
        return table
    }

    private func leastWidth(_ shortening: Set<Int>) -> Int { TextLayout.leastWidth(cells, shortening: shortening) }

    private static func isTime(_ column: String) -> Bool {
        column == "at" || column.hasSuffix("_at") || column.hasSuffix("_at_unix")
    }

    /// The columns with addresses, days, and resource names, in which there are ids.
    private static let addresses = [
        "actor", "address", "auth_server", "date", "owner", "peer", "subject", "suite", "target",
    ]

    /// Whether the rest of a cell is of no use: of an id, a time or an address.
    private static func isWhole(_ column: String) -> Bool {
        isTime(column) || column.hasSuffix("id") || column.hasSuffix("url")
            || addresses.contains(column)
    }

    /// Returns the field of a name, which may be a former one.
    package static func field(_ name: String, of fields: [ResourceField]) -> ResourceField? {
        fields.lazy.compactMap { $0.named(name) }.first
    }

    /// The header and the cells of the rows.
    package var cells: [[String]] {
        let header = columns.map { column in
            (rows.first.flatMap { Self.field(column, of: $0) }?.heading ?? column).uppercased()
        }
        return [header]
            + rows.map { fields in
                columns.map { column in
                    Self.field(column, of: fields).map { $0.text.isEmpty ? "-" : $0.text } ?? "-"
                }
            }
    }

    /// The numbers of the columns that may be cut off.
    private var shortenedBesideName: Set<Int> {
        Set(columns.indices.filter { columns[$0] != "name" && !Self.isWhole(columns[$0]) })
    }

    /// The same; a name is cut off last, since people use it in the next command.
    package var shortened: Set<Int> {
        let numbers = shortenedBesideName
        guard let width, leastWidth(numbers) > width, let name = columns.firstIndex(of: "name") else { return numbers }
        return numbers.union([name])
    }

    /// - Parameter isColored: whether the header is emphasized.
    package func text(isColored: Bool = false) -> String {
        let text = TextLayout.table(cells, width: width, shortening: shortened)
        guard isColored, let end = text.firstIndex(of: "\n") else { return text }
        return "\u{1B}[1m\(text[..<end])\u{1B}[0m\(text[end...])"
    }
}
