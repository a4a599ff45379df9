/// The path template of an HTTP route, e.g. `/v1/{name=devices/*}:enable` (google/api/http.proto, "Path template syntax").
public struct RouteTemplate: Sendable, Hashable {
    /// What one segment of a path has to be.
    public enum Segment: Sendable, Hashable {
        /// This text.
        case literal(String)
        /// Any text but the empty one: `*`.
        case single
        /// Any number of segments, also none: `**`, which is the last segment.
        case several
    }

    /// A field of the request that is taken from the path.
    public struct Variable: Sendable, Hashable {
        /// The field's path in the request, with the names of the file, e.g. `object.bucket`.
        public let field: String
        /// The segments whose text is the field's value.
        public let segments: Range<Int>

        public init(_ field: String, _ segments: Range<Int>) {
            self.field = field
            self.segments = segments
        }
    }

    public let segments: [Segment]
    public let variables: [Variable]
    /// What follows a colon behind the last segment; `nil` = there is none.
    public let verb: String?

    public init(_ segments: [Segment], _ variables: [Variable] = [], verb: String? = nil) {
        self.segments = segments
        self.variables = variables
        self.verb = verb
    }

    /// The template as it is written in a `.proto` file. A variable of one `*` has no pattern.
    public var text: String {
        path { variable, pattern in pattern == "*" ? "{\(variable.field)}" : "{\(variable.field)=\(pattern)}" }
    }

    /// The template in which something else stands for each variable.
    ///
    /// - Parameter write: takes the variable and its pattern, e.g. `devices/*`.
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
