import Basics

/// The output of a command: for programs, and for people.
package struct Reply: Sendable {
    package let json: JSONValue
    package let text: String
    /// The rows of a list, for the other forms of output.
    private var list: (rows: [[ResourceField]], columns: [String])?
    /// Whether the text is a table of the list.
    private var isTable = false

    package init(json: JSONValue, text: String) {
        self.json = json
        self.text = text
    }

    /// The output for one resource: a line for each field with a text.
    package init(_ resource: some Resource) {
        let lines = resource.fields.filter { !$0.text.isEmpty }
            .map { ["\($0.heading):", $0.text] }
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
    /// - Throws: if the reply is not a list, or a column is unknown.
    package func text(
        as options: OutputOptions, width: Int? = nil, isColored: Bool = false
    ) throws(ClientFailure) -> String {
        guard options.format != nil || options.columns != nil else {
            guard isTable, let list, width != nil || isColored else { return text }
            return Self.table(list.rows, list.columns, width: width, isColored: isColored)
        }
        if options.format == .json { return json.text }
        guard let list else {
            throw ClientFailure("the command has no table for --output and --columns", exitCode: .usage)
        }
        guard let first = list.rows.first else { return options.format == .csv ? "" : text }
        let known = first.map(\.name)
        let chosen = options.columns?.names ?? (options.format == .wide ? known : list.columns)
        if let unknown = chosen.first(where: { !known.contains($0) }) {
            throw ClientFailure(
                "--columns has the unknown column \(unknown): known are \(known.joined(separator: ", "))",
                exitCode: .usage)
        }
        guard options.format == .csv else { return Self.table(list.rows, chosen, isColored: isColored) }
        let rows = list.rows.map { fields in chosen.map { name in Self.cell(fields.first { $0.name == name }) } }
        return CSVWriter.text([chosen] + rows)
    }

    private static func table(
        _ rows: [[ResourceField]], _ columns: [String], width: Int? = nil, isColored: Bool = false
    ) -> String {
        let header = columns.map { column in
            (rows.first?.first { $0.name == column }?.heading ?? column).uppercased()
        }
        let cells = rows.map { fields in
            columns.map { column in
                fields.first { $0.name == column }.map { $0.text.isEmpty ? "-" : $0.text } ?? "-"
            }
        }
        // An id that is cut off cannot be copied.
        let shortened = columns.indices.filter { !columns[$0].hasSuffix("id") && !columns[$0].hasSuffix("url") }
        let text = TextLayout.table([header] + cells, width: width, shortening: Set(shortened))
        guard isColored, let end = text.firstIndex(of: "\n") else { return text }
        return "\u{1B}[1m\(text[..<end])\u{1B}[0m\(text[end...])"
    }

    /// Returns the value for a spreadsheet: numbers without units.
    private static func cell(_ field: ResourceField?) -> String {
        switch field?.json {
        case .number(let number): "\(number)"
        case .string(let text): SpreadsheetCell.cell(of: text)
        default: SpreadsheetCell.cell(of: field?.text ?? "")
        }
    }
}

/// The options for the form of a list.
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
            .option("--output", "FORM", \.format, "Print a list as table, wide (with all fields), json or csv"),
            .option(
                "--columns", "NAMES", \.columns,
                "Print these fields of a list, separated by commas, for example name,size_bytes"),
        ]
    }
}
