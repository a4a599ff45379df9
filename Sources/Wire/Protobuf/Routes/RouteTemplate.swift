import Basics

/// The path template of an HTTP route, e.g. `/v1/{name=devices/*}:enable` (google/api/http.proto, "Path template syntax").
public struct RouteTemplate: Sendable, Hashable {
    /// The required form of one segment of a path.
    public enum Segment: Sendable, Hashable {
        /// The literal text.
        case literal(String)
        /// Any non-empty text: `*`.
        case single
        /// Any number of segments, including none: `**`, which is the last segment.
        case several
    }

    /// A field of the request whose value is part of the path.
    public struct Variable: Sendable, Hashable {
        /// The field's path in the request, with the names of the .proto file, e.g. `object.bucket`.
        public let field: String
        /// The segments that form the field's value.
        public let segments: Range<Int>

        public init(_ field: String, _ segments: Range<Int>) {
            self.field = field
            self.segments = segments
        }
    }

    public let segments: [Segment]
    public let variables: [Variable]
    /// The text after a colon at the end; `nil` without a colon.
    public let verb: String?

    public init(_ segments: [Segment], _ variables: [Variable] = [], verb: String? = nil) {
        self.segments = segments
        self.variables = variables
        self.verb = verb
    }

    /// The template in the form of a `.proto` file. A variable of one `*` has no pattern.
    public var text: String {
        path { variable, pattern in pattern == "*" ? "{\(variable.field)}" : "{\(variable.field)=\(pattern)}" }
    }

    /// Returns the template with another text for each variable.
    ///
    /// - Parameter write: returns the text for the variable and its pattern, e.g. `devices/*`.
    public func path(_ write: (_ variable: Variable, _ pattern: String) -> String) -> String {
        var text = ""
        var index = 0
        while index < segments.count {
            text += "/"
            if let variable = variables.first(where: { $0.segments.lowerBound == index }) {
                text += write(variable, segments[variable.segments].map(Self.text).joined(separator: "/"))
                index = variable.segments.upperBound
            } else {
                text += Self.text(segments[index])
                index += 1
            }
        }
        return text + (verb.map { ":\($0)" } ?? "")
    }

    private static func text(_ segment: Segment) -> String {
        switch segment {
        case .literal(let text): text
        case .single: "*"
        case .several: "**"
        }
    }
}

/// A syntax error of a path template; `description` is for the author of the `.proto` file.
public struct RouteTemplateError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The offset of the error in the text, in bytes.
    public let offset: Int
    public let rule: String

    public var description: String { "byte \(offset): \(rule)" }
}

extension RouteTemplate {
    /// Parses a template in the form of a `.proto` file.
    ///
    /// Variables cannot be nested, and `**` is the last segment (google/api/http.proto, "Path template syntax"). `/` alone is the root.
    public init(parsing text: String) throws(RouteTemplateError) {
        var parser = RouteTemplateParser(text)
        self = try parser.template()
    }
}

/// Parses the text of a path template.
private struct RouteTemplateParser {
    private let text: [UInt8]
    private var offset = 0
    private var segments: [RouteTemplate.Segment] = []
    private var variables: [RouteTemplate.Variable] = []

    init(_ text: String) {
        self.text = Array(text.utf8)
    }

    mutating func template() throws(RouteTemplateError) -> RouteTemplate {
        try expect("/")
        // The root, which the grammar does not have, as one empty segment.
        if offset == text.count { return RouteTemplate([.literal("")]) }
        repeat { try segment(inVariable: false) } while take("/")
        let verb = take(":") ? try literal("a verb") : nil
        guard offset == text.count else { throw error("expected / or : or the end") }
        return RouteTemplate(segments, variables, verb: verb)
    }

    private mutating func segment(inVariable isInVariable: Bool) throws(RouteTemplateError) {
        guard segments.last != .several else { throw error("** must be the last segment") }
        if take("*") {
            segments.append(take("*") ? .several : .single)
        } else if next(is: "{") {
            guard !isInVariable else { throw error("a variable cannot be within another") }
            try variable()
        } else {
            segments.append(.literal(try literal("a segment")))
        }
    }

    private mutating func variable() throws(RouteTemplateError) {
        try expect("{")
        var names: [String] = []
        repeat { names.append(try name()) } while take(".")
        let field = names.joined(separator: ".")
        guard !variables.contains(where: { $0.field == field }) else {
            throw error("the variable \(field) occurs twice")
        }
        let start = segments.count
        if take("=") {
            repeat { try segment(inVariable: true) } while take("/")
        } else {
            segments.append(.single)
        }
        try expect("}")
        variables.append(RouteTemplate.Variable(field, start..<segments.count))
    }

    private mutating func name() throws(RouteTemplateError) -> String {
        let start = offset
        guard offset < text.count, text[offset].isASCIILetter || text[offset] == UInt8(ascii: "_") else {
            throw error("expected the name of a field")
        }
        while offset < text.count, text[offset].isASCIIAlphanumeric || text[offset] == UInt8(ascii: "_") { offset += 1 }
        return String(decoding: text[start..<offset], as: UTF8.self)
    }

    /// Reads a text that clients need not escape (RFC 3986, section 2.3).
    private mutating func literal(_ what: String) throws(RouteTemplateError) -> String {
        let start = offset
        while offset < text.count, text[offset].isASCIIAlphanumeric || "-._~".utf8.contains(text[offset]) {
            offset += 1
        }
        guard offset > start else { throw error("expected \(what): letters, digits, and the characters -._~") }
        return String(decoding: text[start..<offset], as: UTF8.self)
    }

    private func next(is character: Unicode.Scalar) -> Bool {
        offset < text.count && text[offset] == UInt8(ascii: character)
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next(is: character) else { return false }
        offset += 1
        return true
    }

    private mutating func expect(_ character: Unicode.Scalar) throws(RouteTemplateError) {
        guard take(character) else { throw error("expected \(character)") }
    }

    private func error(_ rule: String) -> RouteTemplateError { RouteTemplateError(offset: offset, rule: rule) }
}
