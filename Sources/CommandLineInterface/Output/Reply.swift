import Basics
package import JSON

/// The output of a command: for programs, and for people.
package struct Reply: Sendable {
    package let json: JSONValue
    package let text: String
    /// The rows of the result, for the other forms of output.
    private var list: (rows: [[ResourceField]], columns: [String])
    /// The list as a table, if the text is one.
    private var table: ListTable?
    /// The lines before and after the table.
    private var frame = (before: "", after: "")

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
        let table = ListTable(
            rows: rows, columns: R.columns, expendable: R.expendableColumns, essential: R.essentialColumn)
        if rows.isEmpty {
            text = "no \(things ?? name.replacing(bytes: ["_": " "]))"
        } else {
            text = wholeTexts ?? table.text()
            self.table = wholeTexts == nil ? table : nil
        }
    }

    /// Returns the output with lines before and after its table, and with another JSON.
    package func framed(json: JSONValue, before: String = "", after: String = "") -> Reply {
        var reply = Reply(json: json, text: "\(before)\(text)\(after)")
        if let table {
            reply.table = table
            reply.frame = (before, after)
        }
        return reply
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
            guard let table, width != nil || isColored else { return text }
            let fitting = width.map(table.fitting(into:)) ?? table
            return "\(frame.before)\(fitting.text(isColored: isColored))\(frame.after)"
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
        guard options.format == .csv else {
            return ListTable(rows: list.rows, columns: chosen).text(isColored: isColored)
        }
        let rows = list.rows.map { fields in chosen.map { name in Self.cell(ListTable.field(name, of: fields)) } }
        return CSVWriter.text([chosen] + rows)
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
