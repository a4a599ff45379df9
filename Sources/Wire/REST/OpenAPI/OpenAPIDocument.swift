import Basics
import JSON
package import Protobuf
package import ProtobufJSON

/// The description of an API over REST (OpenAPI 3.1.0), made from the routes and messages that the server uses.
package struct OpenAPIDocument: Sendable {
    /// The document's description of the whole API.
    package struct About: Sendable {
        let title: String
        let version: String
        let description: String

        package init(title: String, version: String, description: String) {
            self.title = title
            self.version = version
            self.description = description
        }
    }

    let about: About
    let operations: [APIOperation]
    let comments: APIComments
    let schema: Schema
    /// The paths of the methods that need no token.
    let open: Set<String>
    let rules: [String: ValueRule]

    /// - Parameters:
    ///   - comments: on each line a full name, a tab and the text.
    ///   - open: the paths of the methods that need no token.
    ///   - rules: the rules for fields, by full name, or by a period and the name of the field in any message.
    package init(
        _ about: About, routes: [HTTPRoute], schema: Schema, comments: String, open: Set<String>,
        rules: [String: ValueRule]
    ) {
        self.about = about
        self.schema = schema
        self.comments = APIComments(comments)
        self.open = open
        self.rules = rules
        // A document of this version cannot describe other methods.
        let known = ["GET", "PUT", "POST", "DELETE", "PATCH"]
        operations = routes.filter { known.contains($0.httpMethod) }.map { APIOperation($0, schema) }
    }

    package var json: [UInt8] {
        var writer = SchemaWriter(schema, comments, styles: styles, rules: rules)
        let paths = paths(&writer)
        return Array(
            JSONValue.members([
                ("openapi", .string("3.1.0")),
                (
                    "info",
                    .members([
                        ("title", .string(about.title)), ("version", .string(about.version)),
                        ("description", .string(about.description)),
                    ])
                ),
                ("servers", .array([.members([("url", .string("/"))])])), ("tags", tags), ("paths", paths),
                ("components", components(&writer)), ("security", .array([.members([("bearer", .array([]))])])),
            ]).text.utf8)
    }

    /// The styles of the services with JSON of their own form, by the full names of their messages.
    private var styles: [String: RESTStyle] {
        var styles: [String: RESTStyle] = [:]
        for operation in operations {
            let style = operation.route.style
            guard style.unset == .null || style.protoNames else { continue }
            var pending = [operation.route.output, operation.bodyMessage]
            while let name = pending.popLast() {
                guard styles[name] == nil, let message = schema.messages[name] else { continue }
                styles[name] = style
                pending += message.fields.map(\.typeName)
            }
        }
        return styles
    }

    private var services: [(name: String, short: String)] {
        var services: [(String, String)] = []
        for operation in operations where !services.contains(where: { $0.0 == operation.route.method.service }) {
            services.append((operation.route.method.service, operation.service))
        }
        return services
    }

    private var tags: JSONValue {
        .array(
            services.map { service in
                let text = comments[service.name].map { [("description", JSONValue.string($0))] } ?? []
                return .members([("name", .string(service.short))] + text)
            })
    }

    private func paths(_ writer: inout SchemaWriter) -> JSONValue {
        var items: [(path: String, operations: [(String, JSONValue)])] = []
        var used: [String: Int] = [:]
        for operation in operations {
            used[operation.name, default: 0] += 1
            let method = operation.route.httpMethod.lowercased()
            let value = self.operation(operation, number: used[operation.name] ?? 1, &writer)
            if let index = items.firstIndex(where: { $0.path == operation.path }) {
                items[index].operations.append((method, value))
            } else {
                items.append((operation.path, [(method, value)]))
            }
        }
        return .members(items.map { ($0.path, .members($0.operations)) })
    }

    /// - Parameter number: the number of the route among those of the method, from 1.
    private func operation(_ operation: APIOperation, number: Int, _ writer: inout SchemaWriter) -> JSONValue {
        let suffix = number == 1 ? "" : "_\(number)"
        var members: [(String, JSONValue)] = [
            ("operationId", .string("\(operation.service)_\(operation.route.method.name)\(suffix)")),
            ("tags", .array([.string(operation.service)])),
        ]
        if let summary = comments.summary(operation.name) { members.append(("summary", .string(summary))) }
        if let text = comments[operation.name] { members.append(("description", .string(text))) }
        var parameters: [JSONValue] = []
        for each in operation.parameters { parameters.append(parameter(each, &writer)) }
        if !parameters.isEmpty { members.append(("parameters", .array(parameters))) }
        if let body = requestBody(operation, &writer) { members.append(("requestBody", body)) }
        members.append(("responses", responses(operation, &writer)))
        if open.contains(operation.route.method.path) { members.append(("security", .array([]))) }
        return .members(members)
    }

    private func parameter(_ parameter: APIOperation.Parameter, _ writer: inout SchemaWriter) -> JSONValue {
        var members: [(String, JSONValue)] = [
            ("name", .string(parameter.name)), ("in", .string(parameter.isInPath ? "path" : "query")),
        ]
        if parameter.isInPath { members.append(("required", .bool(true))) }
        var text = comments[parameter.fieldName]
        if !parameter.prefix.isEmpty {
            text = "The field `\(parameter.field.name)` is this value behind `\(parameter.prefix)`."
        }
        if let text { members.append(("description", .string(text))) }
        members.append(("schema", writer.field(parameter.field, parameter.fieldName)))
        return .members(members)
    }

    /// The content of an HttpBody. Its type may be known only with the bytes; generators of clients do not accept `*/*`.
    private static func bytes(_ types: [String] = []) -> JSONValue {
        let schema: JSONValue = .members([("type", .string("string")), ("format", .string("binary"))])
        return .members(
            (types.isEmpty ? ["application/octet-stream"] : types).map { ($0, .members([("schema", schema)])) })
    }

    private func requestBody(_ operation: APIOperation, _ writer: inout SchemaWriter) -> JSONValue? {
        if operation.bodyMessage == "google.api.HttpBody" {
            return .members([("content", Self.bytes())])
        }
        guard !operation.bodyFields.isEmpty else { return nil }
        let schema =
            operation.isWholeMessage
            ? JSONValue.members(writer.reference(operation.bodyMessage))
            : writer.object(
                operation.bodyFields, of: operation.bodyMessage, isClosed: !operation.route.style.ignoresUnknown)
        let isRequired =
            operation.route.requiresBody(self.schema)
            || !writer.required(operation.bodyFields, of: operation.bodyMessage).isEmpty
        let content: [(String, JSONValue)] = [
            ("schema", schema), ("example", writer.example(operation.bodyFields, of: operation.bodyMessage)),
        ]
        return .members([
            ("content", .members([("application/json", .members(content))])),
            ("required", .bool(isRequired)),
        ])
    }

    private func responses(_ operation: APIOperation, _ writer: inout SchemaWriter) -> JSONValue {
        let (form, style) = (operation.route.response, operation.route.style)
        var success: [(String, JSONValue)] = [("description", .string("The call succeeded."))]
        if form.status != 204 { success.append(("content", responseContent(operation, &writer))) }
        var responses = [("\(form.status)", JSONValue.members(success))]
        if form.takesRanges {
            let part = [("description", JSONValue.string("The range that was asked for."))] + success.dropFirst()
            responses.append(("206", .members(part)))
            responses.append(
                ("416", .members([("description", .string("The file does not have the range that was asked for."))])))
        }
        let error: JSONValue = .members([
            ("$ref", .string("#/components/responses/\(style.errors.componentName)"))
        ])
        // Every failure but a missing sign-in has the status of the style.
        let failures = style.failureStatus == 0 ? ["default"] : ["401", "\(style.failureStatus)"]
        return .members(responses + failures.map { ($0, error) })
    }

    private func responseContent(_ operation: APIOperation, _ writer: inout SchemaWriter) -> JSONValue {
        if operation.isRaw(schema) {
            return Self.bytes(operation.route.response.contentTypes)
        }
        let value: JSONValue
        let example: JSONValue
        if let field = operation.responseField(schema) {
            value = writer.field(field, "\(operation.route.output).\(field.name)")
            example = writer.example(field, "\(operation.route.output).\(field.name)") ?? .null
        } else {
            value = .members(writer.reference(operation.route.output))
            example = writer.example(schema.messages[operation.route.output]?.fields ?? [], of: operation.route.output)
        }
        guard operation.isStream else {
            let content = operation.route.style.errors.success(value, example: example)
            return .members([
                ("application/json", .members([("schema", content.schema), ("example", content.example)]))
            ])
        }
        let line: JSONValue = .members([
            ("type", .string("object")), ("description", .string("One line of the stream.")),
            ("properties", .members([("result", value)])),
        ])
        return .members([
            ("application/x-ndjson", .members([("schema", line)])),
            ("text/event-stream", .members([("schema", .members([("type", .string("string"))]))])),
        ])
    }

    // MARK: Components

    private func components(_ writer: inout SchemaWriter) -> JSONValue {
        var schemas: [(String, JSONValue)] = []
        var done: Set<String> = []
        // Complete requests permit no other members; responses may get more in later versions.
        let requests = Set(operations.filter { !$0.route.style.ignoresUnknown }.map(\.bodyMessage))
        let responses = Set(operations.map(\.route.output))
        while let name = writer.referred.subtracting(done).min() {
            done.insert(name)
            let isClosed = requests.contains(name) && !responses.contains(name)
            schemas.append((writer.name(name), writer.component(name, isClosed: isClosed)))
        }
        schemas.sort { $0.0 < $1.0 }
        var shapes: [RESTStyle.Errors] = []
        for operation in operations where !shapes.contains(operation.route.style.errors) {
            shapes.append(operation.route.style.errors)
        }
        return .members([
            ("schemas", .members(schemas + shapes.map { ($0.componentName, $0.schema) })),
            ("responses", .members(shapes.map { ($0.componentName, $0.response) })),
            (
                "securitySchemes",
                .members([
                    (
                        "bearer",
                        .members([
                            ("type", .string("http")), ("scheme", .string("bearer")),
                            (
                                "description",
                                .string("The access token that signing in or the exchange of a credential returned.")
                            ),
                        ])
                    )
                ])
            ),
        ])
    }
}
