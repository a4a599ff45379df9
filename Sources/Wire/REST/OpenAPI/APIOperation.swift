import Protobuf
import ProtobufJSON

/// A route from the point of view of clients: the source of the OpenAPI document and the reference page.
struct APIOperation: Sendable {
    struct Parameter: Sendable {
        /// The name in the path or the query.
        let name: String
        let isInPath: Bool
        let field: FieldSchema
        /// The full name of the field.
        let fieldName: String
        /// The text before the value in the field, e.g. `devices/`; empty if the value is the whole field.
        let prefix: String
    }

    let route: HTTPRoute
    /// The path with a parameter in braces for each wildcard.
    let path: String
    let parameters: [Parameter]
    /// The fields of the body; empty = there is no body.
    let bodyFields: [FieldSchema]
    /// The full name of the message that contains the body's fields.
    let bodyMessage: String
    /// Whether the body is all of `bodyMessage`.
    let isWholeMessage: Bool

    init(_ route: HTTPRoute, _ schema: Schema) {
        self.route = route
        var parameters: [Parameter] = []
        let names = route.template.variables.compactMap { FieldPath($0.field, in: route.input, of: schema)?.name }
        path = route.template.path { variable, pattern in
            guard let field = FieldPath(variable.field, in: route.input, of: schema) else { return pattern }
            let literals = pattern.split(separator: "/").prefix { !$0.hasPrefix("*") }.joined(separator: "/")
            let prefix = literals.isEmpty ? "" : "\(literals)/"
            parameters.append(
                Parameter(
                    name: field.last.jsonName, isInPath: true, field: field.last,
                    fieldName: Self.fullName(field, route.input),
                    prefix: prefix))
            return "\(prefix){\(field.last.jsonName)}"
        }
        let fields = schema.messages[route.input]?.fields ?? []
        switch route.body {
        case .none:
            Self.addQuery(route.input, "", [], except: Set(names), schema, to: &parameters)
            (bodyFields, bodyMessage, isWholeMessage) = ([], "", false)
        case .whole:
            bodyFields = fields.filter { !names.contains($0.name) }
            (bodyMessage, isWholeMessage) = (route.input, bodyFields.count == fields.count)
        case .field(let name):
            Self.addQuery(route.input, "", [], except: Set(names + [name]), schema, to: &parameters)
            let type = schema.messages[route.input]?.field(name)?.typeName ?? ""
            bodyFields = schema.messages[type]?.fields ?? []
            (bodyMessage, isWholeMessage) = (type, true)
        }
        self.parameters = parameters
    }

    private static func fullName(_ path: FieldPath, _ message: String) -> String {
        let owner = path.fields.dropLast().last?.typeName ?? message
        return "\(owner).\(path.last.name)"
    }

    /// Adds the fields that the query can have, including those of single nested messages.
    private static func addQuery(
        _ message: String, _ prefix: String, _ outer: [String], except names: Set<String>, _ schema: Schema,
        to parameters: inout [Parameter]
    ) {
        let reader = ParameterReader(schema)
        for field in schema.messages[message]?.fields ?? [] where !names.contains(field.name) || !outer.isEmpty {
            if reader.accepts(field) {
                parameters.append(
                    Parameter(
                        name: prefix + field.jsonName, isInPath: false, field: field,
                        fieldName: "\(message).\(field.name)", prefix: ""))
            } else if field.kind == .message, !field.isRepeated, !outer.contains(field.typeName),
                field.typeName != message,
                JSONShape(field.typeName) == nil
            {
                addQuery(
                    field.typeName, "\(prefix)\(field.jsonName).", outer + [message], except: names, schema,
                    to: &parameters)
            }
        }
    }

    /// The method's full name.
    var name: String { "\(route.method.service).\(route.method.name)" }

    /// The service's name without its package.
    var service: String { route.method.service.split(separator: ".").last.map(String.init) ?? "" }

    var isStream: Bool { route.method.kind == .serverStreaming }

    /// Whether the response consists of bytes, not JSON.
    func isRaw(_ schema: Schema) -> Bool {
        if route.output == "google.api.HttpBody", route.responseBody == nil { return true }
        return responseField(schema).map { $0.kind == .bytes && !$0.isRepeated } ?? false
    }

    /// Returns the field that is sent as the response; `nil` = the whole message.
    func responseField(_ schema: Schema) -> FieldSchema? {
        route.responseBody.flatMap { schema.messages[route.output]?.field($0) }
    }
}

/// The comments of `.proto` files, by full name.
struct APIComments: Sendable {
    private let texts: [String: String]

    /// - Parameter lines: on each line a full name, a tab and the text.
    init(_ lines: String) {
        var texts: [String: String] = [:]
        for line in lines.split(separator: "\n") {
            let parts = line.split(separator: "\t", maxSplits: 1)
            if parts.count == 2 { texts[String(parts[0])] = String(parts[1]) }
        }
        self.texts = texts
    }

    subscript(name: String) -> String? { texts[name] }

    /// Returns the first sentence.
    func summary(_ name: String) -> String? {
        guard let text = texts[name] else { return nil }
        guard let end = text.firstRange(of: ". ") else { return text }
        return String(text[..<end.upperBound].dropLast())
    }

    /// Returns the first text in backquotes, which is an example for text fields.
    func quoted(_ name: String) -> String? {
        guard let parts = texts[name]?.split(separator: "`", maxSplits: 2, omittingEmptySubsequences: false),
            parts.count == 3
        else {
            return nil
        }
        return String(parts[1])
    }
}
