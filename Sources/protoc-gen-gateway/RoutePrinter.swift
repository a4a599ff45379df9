import Protobuf

/// Writes routes and styles as Swift expressions.
enum RoutePrinter {
    /// - Parameters:
    ///   - descriptor: the expression of the method's descriptor.
    ///   - messages: the full names of the request and response messages.
    static func expression(
        _ route: HTTPRules.Route, of descriptor: String, messages: (input: String, output: String),
        style: AnnotationHTTPStyle?
    ) -> String {
        var arguments = [descriptor, quoted(route.httpMethod), template(route.template)]
        switch route.body {
        case .none: break
        case .whole: arguments.append("body: .whole")
        case .field(let name): arguments.append("body: .field(\(quoted(name)))")
        }
        if let name = route.responseBody { arguments.append("responseBody: \(quoted(name))") }
        arguments.append("messages: (\(quoted(messages.input)), \(quoted(messages.output)))")
        if let style { arguments.append("style: \(expression(style))") }
        if let response = route.response { arguments.append("response: \(expression(response))") }
        return "HTTPRoute(\(arguments.joined(separator: ", ")))"
    }

    private static func template(_ template: RouteTemplate) -> String {
        let segments = template.segments.map { segment in
            switch segment {
            case .literal(let text): ".literal(\(quoted(text)))"
            case .single: ".single"
            case .several: ".several"
            }
        }
        var arguments = ["[\(segments.joined(separator: ", "))]"]
        if !template.variables.isEmpty {
            let variables = template.variables.map {
                ".init(\(quoted($0.field)), \($0.segments.lowerBound)..<\($0.segments.upperBound))"
            }
            arguments.append("[\(variables.joined(separator: ", "))]")
        }
        if let verb = template.verb { arguments.append("verb: \(quoted(verb))") }
        return "RouteTemplate(\(arguments.joined(separator: ", ")))"
    }

    private static func expression(_ style: AnnotationHTTPStyle) -> String {
        var arguments: [String] = []
        if style.errors != .status { arguments.append("errors: .\(style.errors)") }
        if style.unset != .omitted { arguments.append("unset: .\(style.unset)") }
        if style.protoNames { arguments.append("protoNames: true") }
        if style.ignoresUnknown { arguments.append("ignoresUnknown: true") }
        if style.takesForms { arguments.append("takesForms: true") }
        if style.sniffsJson { arguments.append("sniffsJSON: true") }
        if style.failureStatus != 0 { arguments.append("failureStatus: \(style.failureStatus)") }
        return "RESTStyle(\(arguments.joined(separator: ", ")))"
    }

    private static func expression(_ response: AnnotationResponseForm) -> String {
        var arguments: [String] = []
        if response.status != 0 { arguments.append("status: \(response.status)") }
        if !response.contentTypes.isEmpty {
            arguments.append("contentTypes: [\(response.contentTypes.map(quoted).joined(separator: ", "))]")
        }
        if response.takesRanges { arguments.append("takesRanges: true") }
        return "RESTResponse(\(arguments.joined(separator: ", ")))"
    }

    private static func quoted(_ text: String) -> String { "\"\(text)\"" }
}
