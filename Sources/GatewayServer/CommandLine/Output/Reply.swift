import Basics

/// What a command answers: for programs, and for people.
package struct Reply: Sendable {
    package let json: JSONValue
    package let text: String

    package init(json: JSONValue, text: String) {
        self.json = json
        self.text = text
    }

    /// One resource: a line for each field that says something.
    package init(_ resource: some Resource) {
        let lines = resource.fields.filter { !$0.text.isEmpty }
            .map { ["\($0.heading):", $0.text] }
        self.init(json: resource.json, text: TextLayout.table(lines))
    }

    /// A list: a row for each resource.
    ///
    /// - Parameter name: the repeated field's name, e.g. `device_suites`.
    package init<R: Resource>(_ name: String, _ resources: [R]) {
        json = .object([JSONValue.Member(name: name, value: .array(resources.map(\.json)))])
        guard let first = resources.first else {
            text = "no \(name.replacing("_", with: " "))"
            return
        }
        let header = R.columns.map { column in
            (first.fields.first { $0.name == column }?.heading ?? column).uppercased()
        }
        let rows = resources.map { resource in
            R.columns.map { column in
                resource.fields.first { $0.name == column }.map { $0.text.isEmpty ? "-" : $0.text } ?? "-"
            }
        }
        text = TextLayout.table([header] + rows)
    }
}
