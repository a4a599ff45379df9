import Basics

/// The output of a command: for programs, and for people.
package struct Reply: Sendable {
    package let json: JSONValue
    package let text: String
    /// The rows of the result, for the other forms of output.
    private var list: (rows: [[ResourceField]], columns: [String])
    /// The columns that a narrow terminal does without, the least important first.
    private var expendable: [String] = []
    /// Whether the text is a table of the list.
    private var isTable = false

    /// - Parameter json: if it is an object, its members are the fields of the other forms of output.
    package init(json: JSONValue, text: String) {
        self.json = json
        self.text = text
        var fields: [ResourceField] = []
        if case .object(let members) = json { fields = members.map { ResourceField($0.name, $0.value) } }
        list = ([fields], fields.map(\.name))
    }

    /// The output for one resource: a line for each field with a text.
    package init(_ resource: some Resource) {
        let lines = resource.fields.filter { !$0.text.isEmpty }.flatMap { field in
            field.lines.enumerated().map { [$0 == 0 ? "\(field.heading):" : "", $1] }
        }
        self.init(json: resource.json, text: TextLayout.table(lines))
        list = ([resource.fields], resource.fields.map(\.name))
    }

    /// The output for a list: a row for each resource.
    ///
    /// - Parameters:
    ///   - name: the repeated field's name, e.g. `device_suites`.
    ///   - things: the plural for the text of an empty list, if it is not the field's name.
    ///   - wholeTexts: the text for people instead of the table.
    package init<R: Resource>(
        _ name: String, _ resources: [R], things: String? = nil, wholeTexts: String? = nil
    ) {
        let rows = resources.map(\.fields)
        json = .object([JSONValue.Member(name: name, value: .array(resources.map(\.json)))])
        list = (rows, R.columns)
        expendable = R.expendableColumns
        if rows.isEmpty {
            text = "no \(things ?? name.replacing("_", with: " "))"
        } else {
            text = wholeTexts ?? Self.table(rows, R.columns)
            isTable = wholeTexts == nil
        }
    }

    /// Returns the output in the form of the options.
    ///
    /// - Parameters:
    ///   - width: the number of columns that a table should fit into, unless the options ask for columns or all of them; `nil` =
    ///     unlimited.
    ///   - isColored: whether the header of a table is emphasized.
    /// - Throws: if a column is unknown.
    package func text(
        as options: OutputOptions, width: Int? = nil, isColored: Bool = false
    ) throws(ClientFailure) -> String {
        guard options.format != nil || options.columns != nil else {
            guard isTable, width != nil || isColored else { return text }
            return Self.table(
                list.rows, list.columns, fitting: width.map { ($0, expendable) }, isColored: isColored)
        }
        if options.format == .json { return json.text }
        guard let first = list.rows.first else {
            return options.format == .csv ? CSVWriter.text([options.columns?.names ?? list.columns]) : text
        }
        let known = first.map(\.name)
        let chosen = options.columns?.names ?? (options.format == .wide ? known : list.columns)
        if let unknown = chosen.first(where: { name in !first.contains { $0.named(name) != nil } }) {
            throw ClientFailure(
                "--columns has the unknown column \(unknown): known are \(known.joined(separator: ", "))",
                exitCode: .usage)
        }
        guard !chosen.isEmpty else { return text }
        guard options.format == .csv else { return Self.table(list.rows, chosen, isColored: isColored) }
        let rows = list.rows.map { fields in chosen.map { name in Self.cell(Self.field(name, of: fields)) } }
        return CSVWriter.text([chosen] + rows)
    }

    /// - Parameter terminal: the number of columns of the terminal, and the columns of the table that a narrow one does without.
    private static func table(
        _ rows: [[ResourceField]], _ columns: [String], fitting terminal: (width: Int, expendable: [String])? = nil,
        isColored: Bool = false
    ) -> String {
        var columns = columns
        if let terminal {
            for column in terminal.expendable {
                let least = TextLayout.leastWidth(cells(rows, columns), shortening: shortened(columns))
                guard least > terminal.width else { break }
                columns.removeAll { $0 == column }
            }
        }
        let cells = cells(rows, columns)
        var shortening = shortened(columns)
        // A name is cut off last: people use it in the next command.
        if let terminal, TextLayout.leastWidth(cells, shortening: shortening) > terminal.width,
            let name = columns.firstIndex(of: "name")
        {
            shortening.insert(name)
        }
        let text = TextLayout.table(cells, width: terminal?.width, shortening: shortening)
        guard isColored, let end = text.firstIndex(of: "\n") else { return text }
        return "\u{1B}[1m\(text[..<end])\u{1B}[0m\(text[end...])"
    }

    private static func field(_ name: String, of fields: [ResourceField]) -> ResourceField? {
        fields.lazy.compactMap { $0.named(name) }.first
    }

    /// Returns the header and the cells of the rows.
    private static func cells(_ rows: [[ResourceField]], _ columns: [String]) -> [[String]] {
        let header = columns.map { column in
            (rows.first.flatMap { field(column, of: $0) }?.heading ?? column).uppercased()
        }
        return [header]
            + rows.map { fields in
                columns.map { column in
                    field(column, of: fields).map { $0.text.isEmpty ? "-" : $0.text } ?? "-"
                }
            }
    }

    /// Returns the numbers of the columns that may be cut off: the rest of an id, a time or an address is of no use.
    private static func shortened(_ columns: [String]) -> Set<Int> {
        let whole = ["id", "url", "_at", "_at_unix"]
        return Set(
            columns.indices.filter { number in
                columns[number] != "name" && !whole.contains { columns[number].hasSuffix($0) }
            })
    }

    /// Returns the value for a spreadsheet: numbers without units, and the words of numbered states.
    private static func cell(_ field: ResourceField?) -> String {
        switch field?.json {
        case .number where field?.isWord == true: SpreadsheetCell.cell(of: field?.text ?? "")
        case .number(let number): "\(number)"
        case .string(let text): SpreadsheetCell.cell(of: text)
        default: SpreadsheetCell.cell(of: field?.text ?? "")
        }
    }
}

/// The options for the form of the output.
package struct OutputOptions: Sendable {
    package enum Format: String, ArgumentChoice, Sendable {
        case table, wide, json, csv
    }

    /// The names of fields, separated by commas.
    package struct Columns: ArgumentValue, Hashable, Sendable {
        package let names: [String]

        package init(argument: String) throws(ArgumentProblem) {
            names = argument.split(separator: ",").map(String.init)
            guard !names.isEmpty, !argument.isEmpty else {
                throw ArgumentProblem("must be names of fields such as name,size_bytes")
            }
        }
    }

    package var format: Format?
    package var columns: Columns?

    package init() {}

    package static var parameters: [Parameter<Self>] {
        [
            .option("--output", "FORM", \.format, "Print the result as table, wide (with all fields), json or csv"),
            .option(
                "--columns", "NAMES", \.columns,
                "Print these fields of the result, separated by commas, for example name,size_bytes"),
        ]
    }
}
