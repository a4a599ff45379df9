import Basics
import REST
public import Wire

/// Properties of path templates, paths, queries and forms for any input.
public enum RESTProperties {
    /// The inputs that the fuzzer begins with.
    public static let seeds: [[UInt8]] = [
        "/v1/messages/{message_id}", "/v1/{name=devices/*}:enable", "/v1/files/{name=**}:read", "/v1/objects:zip",
        "/v1/messages/a%2Fb:c", "/v1/files/a/b%2fc//d:read", "/v1/named/%", "revision=2&sub.subfield=foo",
        "a=+%20&&b&=c",
        "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--x--\r\n",
        "preamble\r\n--x \r\nContent-Disposition: form-data; name=p; filename=\"C:\\\\a\\\"b.png\"\r\n"
            + "Content-Type: image/png\r\n\r\n\r\n--x\r\n\r\n--x--",
        "multipart/form-data; boundary=\"a b\"; x",
    ].map { Array($0.utf8) }

    private static let templates: [RouteTemplate] = TestFiles.routes.map(\.template)

    private static let tree: RouteTree = {
        var tree = RouteTree()
        for (index, template) in templates.enumerated() { tree.insert(template, route: index) }
        return tree
    }()

    public static func check(_ input: [UInt8]) {
        checkTemplate(String(decoding: input, as: UTF8.self))
        checkPath(input)
        checkQuery(input)
        checkForm(input)
    }

    /// Checks that a template is the same after it was written and parsed again, and that a path made from it yields the same
    /// values.
    private static func checkTemplate(_ text: String) {
        guard let template = try? RouteTemplate(parsing: text) else { return }
        guard let again = try? RouteTemplate(parsing: template.text), again == template else {
            fatalError("\(template.text) is not read as it was written")
        }
        checkExpansion(of: template) { Array("v\($0)/%:é ".utf8) }
    }

    /// Checks that a path with `value` in place of each wildcard matches its template with these values.
    public static func checkExpansion(of template: RouteTemplate, value: (Int) -> [UInt8]) {
        var tree = RouteTree()
        tree.insert(template, route: 0)
        let texts = template.segments.enumerated().map { index, segment -> (escaped: [UInt8], value: [UInt8]) in
            switch segment {
            case .literal(let text): (Array(text.utf8), Array(text.utf8))
            case .single: (escape(value(index), keepingSlash: false), value(index))
            case .several: (escape(value(index), keepingSlash: true), value(index))
            }
        }
        var path: [UInt8] = []
        for text in texts { path += [UInt8(ascii: "/")] + text.escaped }
        if let verb = template.verb { path += ":\(verb)".utf8 }
        guard let parsed = RoutePath(path) else { return }
        guard tree.routes(for: parsed).contains(0) else {
            fatalError("\(String(decoding: path, as: UTF8.self)) does not match \(template.text)")
        }
        for variable in template.variables {
            let segments = texts[variable.segments]
            let isSingleSegment = segments.count == 1 && template.segments[variable.segments.lowerBound] != .several
            // In a value of several segments an escaped slash is kept.
            let expected = segments.map { isSingleSegment ? $0.value : keepingEscapedSlash($0.escaped) }
            guard let got = parsed.value(of: variable, in: template), got == Array(expected.joined(separator: [0x2F]))
            else {
                fatalError("\(variable.field) of \(template.text) is not what the path was made of")
            }
        }
    }

    private static func escape(_ bytes: [UInt8], keepingSlash: Bool) -> [UInt8] {
        var text: [UInt8] = []
        for byte in bytes {
            let isPlain = byte.isASCIIAlphanumeric || "-._~".utf8.contains(byte) || keepingSlash && byte == 0x2F
            if isPlain { text.append(byte) } else { PercentEscapes.append(byte, to: &text) }
        }
        return text
    }

    private static func keepingEscapedSlash(_ escaped: [UInt8]) -> [UInt8] {
        PercentEscapes.decode(Array(String(decoding: escaped, as: UTF8.self).replacing("%2F", with: "%252F").utf8))
            ?? []
    }

    private static func checkPath(_ input: [UInt8]) {
        guard let path = RoutePath(input) else { return }
        for route in tree.routes(for: path) {
            for variable in templates[route].variables {
                if let value = path.value(of: variable, in: templates[route]), value.count > input.count {
                    fatalError("a value from a path is longer than the path")
                }
            }
        }
    }

    /// Checks that parameters are the same after they were written and parsed again.
    private static func checkQuery(_ input: [UInt8]) {
        guard let fields = try? URLEncodedForm.parse(input) else { return }
        let pairs = fields.map {
            escape(Array($0.name.utf8), keepingSlash: false) + [0x3D] + escape($0.value, keepingSlash: false)
        }
        guard let again = try? URLEncodedForm.parse(Array(pairs.joined(separator: [0x26]))), again == fields else {
            fatalError("parameters are not read as they were written")
        }
    }

    private static func checkForm(_ input: [UInt8]) {
        guard let fields = try? MultipartForm.parse(input, "multipart/form-data; boundary=x") else { return }
        guard fields.count <= MultipartForm.maximumParts, fields.reduce(0, { $0 + $1.value.count }) <= input.count
        else {
            fatalError("a form has more than came")
        }
    }
}
