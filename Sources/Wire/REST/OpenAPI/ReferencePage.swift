import Protobuf
import ProtobufJSON

extension OpenAPIDocument {
    /// The same as a page for people: HTML with its style in it, without scripts and without anything from elsewhere.
    package var page: [UInt8] {
        var html = HTMLWriter()
        html.raw(
            "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>"
        )
        html.text(about.title)
        html.raw("</title><style>\(Self.style)</style></head><body><header><h1>")
        html.text("\(about.title) \(about.version)")
        html.raw("</h1><p>")
        html.code(about.description)
        html.raw("</p><p><a href=\"openapi.json\">openapi.json</a></p></header><nav><ul>")
        let services = Dictionary(grouping: operations.indices, by: { operations[$0].route.method.service })
        let names = services.keys.sorted { (services[$0]?.first ?? 0) < (services[$1]?.first ?? 0) }
        for name in names {
            html.raw("<li><a href=\"#\(name)\">")
            html.text(operations[services[name]?.first ?? 0].service)
            html.raw("</a></li>")
        }
        html.raw("</ul></nav><main>")
        for name in names {
            html.raw("<section id=\"\(name)\"><h2>")
            html.text(operations[services[name]?.first ?? 0].service)
            html.raw("</h2>")
            if let text = comments[name] { html.paragraph(text) }
            for index in services[name] ?? [] { write(operations[index], to: &html) }
            html.raw("</section>")
        }
        html.raw("</main></body></html>\n")
        return html.output
    }

    private func write(_ operation: APIOperation, to html: inout HTMLWriter) {
        html.raw("<article><h3><b>\(operation.route.httpMethod)</b> <code>")
        html.text(operation.path)
        html.raw("</code></h3>")
        html.raw("<p class=\"rpc\"><code>")
        html.text(String(operation.route.method.path.dropFirst()))
        html.raw("</code>\(open.contains(operation.route.method.path) ? ", without a token" : "")</p>")
        if let text = comments[operation.name] { html.paragraph(text) }
        let parameters = operation.parameters.map { parameter in
            (parameter.name, parameter.isInPath ? "path" : "query", parameter.field, parameter.fieldName)
        }
        let members = operation.bodyFields.map { ($0.jsonName, "body", $0, "\(operation.bodyMessage).\($0.name)") }
        table(parameters + members, to: &html)
        html.raw("<h4>Response</h4>")
        if operation.isRaw(schema) {
            html.paragraph("Bytes.")
        } else {
            if operation.isStream { html.paragraph("A stream: one JSON object on each line, `{\"result\": …}`.") }
            let fields = schema.messages[operation.route.output]?.fields ?? []
            table(fields.map { ($0.jsonName, "", $0, "\(operation.route.output).\($0.name)") }, to: &html)
        }
        html.raw("</article>")
    }

    private func table(
        _ rows: [(name: String, place: String, field: FieldSchema, fullName: String)], to html: inout HTMLWriter
    ) {
        if rows.isEmpty { return }
        html.raw("<table>")
        for row in rows {
            html.raw("<tr><td><code>")
            html.text(row.name)
            html.raw("</code></td><td>\(row.place)</td><td>")
            html.text(typeName(row.field))
            html.raw("</td><td>")
            if let text = comments[row.fullName] { html.code(text) }
            html.raw("</td></tr>")
        }
        html.raw("</table>")
    }

    private func typeName(_ field: FieldSchema) -> String {
        if field.isMap { return "object" }
        let name =
            switch field.kind {
            case .message, .enum: field.typeName.split(separator: ".").last.map(String.init) ?? ""
            default: "\(field.kind)"
            }
        return field.isRepeated ? "list of \(name)" : name
    }

    private static let style = """
        body{font:15px/1.5 system-ui,sans-serif;margin:0 auto;max-width:60rem;padding:1rem;color:#1c2430;background:#fff}
        code{font-family:ui-monospace,monospace;font-size:.92em}h3{border-top:1px solid #d5dae1;padding-top:1rem;margin-bottom:0}
        h3 b{color:#0b5cad}.rpc{color:#5a6675;margin:0}table{border-collapse:collapse;width:100%}
        td{border-bottom:1px solid #e6e9ee;padding:.2rem .6rem .2rem 0;vertical-align:top}h4{margin:.6rem 0 0}
        @media(prefers-color-scheme:dark){body{color:#dfe5ee;background:#12171e}h3 b,a{color:#7db8f5}td,h3{border-color:#2b3440}}
        """
}

/// Writes HTML in which text cannot be read as markup.
private struct HTMLWriter {
    private(set) var output: [UInt8] = []

    mutating func raw(_ markup: String) { output += markup.utf8 }

    mutating func text(_ text: String) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "<"): output += "&lt;".utf8
            case UInt8(ascii: ">"): output += "&gt;".utf8
            case UInt8(ascii: "&"): output += "&amp;".utf8
            case UInt8(ascii: "\""): output += "&quot;".utf8
            default: output.append(byte)
            }
        }
    }

    /// Text in which backquotes stand around code.
    mutating func code(_ text: String) {
        for (index, piece) in text.split(separator: "`", omittingEmptySubsequences: false).enumerated() {
            if index % 2 == 1 { raw("<code>") }
            self.text(String(piece))
            if index % 2 == 1 { raw("</code>") }
        }
    }

    mutating func paragraph(_ text: String) {
        raw("<p>")
        code(text)
        raw("</p>")
    }
}
