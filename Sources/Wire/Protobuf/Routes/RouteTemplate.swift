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
