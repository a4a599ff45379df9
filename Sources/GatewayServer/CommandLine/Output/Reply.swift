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
            .map { ["\($0.name.replacing("_", with: " ")):", $0.text] }
        self.init(json: resource.json, text: TextLayout.table(lines))
    }

    /// A list: a row for each resource.
    ///
    /// - Parameter name: the repeated field's name, e.g. `device_suites`.
    package init<R: Resource>(_ name: String, _ resources: [R]) {
        json = .object([JSONValue.Member(name: name, value: .array(resources.map(\.json)))])
        let words = name.replacing("_", with: " ")
        guard !resources.isEmpty else {
            text = "no \(words)"
            return
        }
        let header = R.columns.map { $0.replacing("_", with: " ").uppercased() }
        let rows = resources.map { resource in
            R.columns.map { column in
                resource.fields.first { $0.name == column }.map { $0.text.isEmpty ? "-" : $0.text } ?? "-"
            }
        }
        text = TextLayout.table([header] + rows)
    }
}
