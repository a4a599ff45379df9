import Basics

/// What a command answers: for programs, and for people.
package struct Reply: Sendable {
    package let json: JSONValue
    package let text: String
    /// A list's rows, for other forms than the usual table.
    private var list: (rows: [[ResourceField]], columns: [String])?

    package init(json: JSONValue, text: String) {
        self.json = json
        self.text = text
    }

    /// One resource: a line for each field that says something.
    package init(_ resource: some Resource) {
        let lines = resource.fields.filter { !$0.text.isEmpty }
            .map { ["\($0.heading):", $0.text] }
        self.init(json: resource.json, text: TextLayout.table(lines))
        list = ([resource.fields], resource.fields.map(\.name))
    }

    /// A list: a row for each resource.
    ///
    /// - Parameters:
    ///   - name: the repeated field's name, e.g. `device_suites`.
    ///   - things: what there is none of, for people, where that is not the field's name.
    ///   - wholeTexts: what people read in the place of the table.
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
        }
    }

    /// The form that the options ask for.
    ///
    /// - Throws: where the reply is no list, or a column is unknown.
    package func text(as options: OutputOptions) throws(ClientFailure) -> String {
        guard options.format != nil || options.columns != nil else { return text }
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
        guard options.format == .csv else { return Self.table(list.rows, chosen) }
        let rows = list.rows.map { fields in chosen.map { name in Self.cell(fields.first { $0.name == name }) } }
        return CSVWriter.text([chosen] + rows)
    }

    private static func table(_ rows: [[ResourceField]], _ columns: [String]) -> String {
        let header = columns.map { column in
            (rows.first?.first { $0.name == column }?.heading ?? column).uppercased()
        }
        let cells = rows.map { fields in
            columns.map { column in
                fields.first { $0.name == column }.map { $0.text.isEmpty ? "-" : $0.text } ?? "-"
            }
        }
        return TextLayout.table([header] + cells)
    }

    /// The value for a spreadsheet: numbers as they are, not with units.
    private static func cell(_ field: ResourceField?) -> String {
        switch field?.json {
        case .number(let number): "\(number)"
        case .string(let text): SpreadsheetCell.cell(of: text)
        default: SpreadsheetCell.cell(of: field?.text ?? "")
        }
    }
}

/// How a list is printed.
package struct OutputOptions: Sendable {
    package enum Format: String, ArgumentChoice, Sendable {
        case table, wide, json, csv
    }

    /// Names of fields, separated by commas.
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
