import Basics
import Protobuf

/// The HTTP routes of a method, read from its annotation `google.api.http` and checked against its messages.
struct HTTPRules {
    /// A route with the properties that the generated code needs.
    struct Route {
        let httpMethod: String
        let template: RouteTemplate
        let body: HTTPRoute.Body
        let responseBody: String?
        /// The form of successful responses; `nil` = JSON with status 200.
        let response: AnnotationResponseForm?
    }

    /// The field number of `google.api.http` among the options of a method.
    private static let annotation: UInt32 = 72_295_728
    /// The field number of `archebase.http.v1.http_response` among the options of a method.
    private static let response: UInt32 = 51002
    private static let httpBody = ".google.api.HttpBody"

    private let method: MethodDescriptorProto
    private let types: TypeIndex
    /// The method's name for errors.
    private let place: String

    init(_ method: MethodDescriptorProto, service: String, file: SourceFile) {
        self.method = method
        types = file.types
        place = "\(file.name): \(service).\(method.name ?? "")"
    }

    func routes() throws(PluginError) -> [Route] {
        guard let rule = try method.options?.unknownFields.message(Self.annotation, as: AnnotationHttpRule.self, place)
        else {
            return []
        }
        for extra in rule.additionalBindings where !extra.additionalBindings.isEmpty {
            throw error("an additional binding cannot have additional bindings")
        }
        let response = try response()
        var routes: [Route] = []
        for each in [rule] + rule.additionalBindings { routes.append(try route(each, response)) }
        return routes
    }

    private func response() throws(PluginError) -> AnnotationResponseForm? {
        let found = try method.options?.unknownFields.message(Self.response, as: AnnotationResponseForm.self, place)
        guard let found else { return nil }
        guard found.status == 0 || (200...299).contains(found.status) else {
            throw error("the status of http_response must be 0 or 200 to 299")
        }
        guard found.contentTypes.isEmpty && !found.takesRanges || method.outputType == Self.httpBody else {
            throw error("http_response has content types or ranges only where the response is google.api.HttpBody")
        }
        let isWellFormed = found.contentTypes.allSatisfy { type in
            type.utf8.allSatisfy { $0.isASCIIAlphanumeric || "/+-.".utf8.contains($0) }
        }
        guard isWellFormed else { throw error("a content type of http_response is malformed") }
        return found
    }

    private func route(
        _ rule: AnnotationHttpRule, _ response: AnnotationResponseForm?
    ) throws(PluginError) -> Route {
        let (httpMethod, text) = try pattern(of: rule)
        let template: RouteTemplate
        do throws(RouteTemplateError) {
            template = try RouteTemplate(parsing: text)
        } catch {
            throw self.error("the path template \(text) is malformed: \(error)")
        }
        for variable in template.variables { try check(variable) }
        if !rule.body.isEmpty, ["GET", "HEAD", "DELETE"].contains(httpMethod) {
            throw error("\(httpMethod) cannot have a body")
        }
        let body = try body(rule)
        if !rule.responseBody.isEmpty { _ = try field(rule.responseBody, of: method.outputType ?? "") }
        try checkStreams(body)
        return Route(
            httpMethod: httpMethod, template: template, body: body,
            responseBody: rule.responseBody.isEmpty ? nil : rule.responseBody, response: response)
    }

    private func pattern(of rule: AnnotationHttpRule) throws(PluginError) -> (httpMethod: String, template: String) {
        switch rule.pattern {
        case .get(let path): return ("GET", path)
        case .put(let path): return ("PUT", path)
        case .post(let path): return ("POST", path)
        case .delete(let path): return ("DELETE", path)
        case .patch(let path): return ("PATCH", path)
        case .custom(let custom):
            guard !custom.kind.isEmpty, custom.kind.allSatisfy({ $0.isASCII && $0.isUppercase }),
                !["OPTIONS", "HEAD"].contains(custom.kind)
            else {
                throw error("the HTTP method '\(custom.kind)' is not in capital letters, or is made from the others")
            }
            return (custom.kind, custom.path)
        case nil: throw error("the HTTP rule has no path")
        }
    }

    private func body(_ rule: AnnotationHttpRule) throws(PluginError) -> HTTPRoute.Body {
        switch rule.body {
        case "": return .none
        case "*": return .whole
        default:
            let field = try field(rule.body, of: method.inputType ?? "")
            guard field.type == .message, field.label != .repeated else {
                throw error("the body \(rule.body) is not a single message")
            }
            return .field(rule.body)
        }
    }

    /// Checks that the path's variable is a single field whose value can be a text.
    private func check(_ variable: RouteTemplate.Variable) throws(PluginError) {
        var message = method.inputType ?? ""
        let names = variable.field.split(separator: ".").map(String.init)
        for (index, name) in names.enumerated() {
            let field = try field(name, of: message)
            if field.label == .repeated { throw error("the path has the repeated field \(variable.field)") }
            if index == names.count - 1 {
                guard field.type != .message else { throw error("the path has the message \(variable.field)") }
            } else {
                guard field.type == .message else { throw error("\(name) of \(variable.field) is not a message") }
                message = field.typeName ?? ""
            }
        }
    }

    /// Checks that a client's stream of messages is one body in pieces; other streams have no HTTP form.
    private func checkStreams(_ body: HTTPRoute.Body) throws(PluginError) {
        guard method.clientStreaming == true else { return }
        let type =
            switch body {
            case .none: ""
            case .whole: method.inputType ?? ""
            case .field(let name): try field(name, of: method.inputType ?? "").typeName ?? ""
            }
        guard type == Self.httpBody, method.serverStreaming != true else {
            throw error("a client's stream has an HTTP route only where its body is google.api.HttpBody")
        }
    }

    private func field(_ name: String, of message: String) throws(PluginError) -> FieldDescriptorProto {
        guard let field = try types[message].message?.field.first(where: { $0.name == name }) else {
            throw error("\(message.drop { $0 == "." }) has no field \(name)")
        }
        return field
    }

    private func error(_ rule: String) -> PluginError { PluginError("\(place): \(rule)") }
}

extension AnnotationHTTPStyle {
    /// The field number of `archebase.http.v1.http_style` among the options of a service.
    private static let option: UInt32 = 51001

    /// `nil` = the service has the default style.
    static func of(_ service: ServiceDescriptorProto, place: String) throws(PluginError) -> AnnotationHTTPStyle? {
        let style = try service.options?.unknownFields.message(option, as: AnnotationHTTPStyle.self, place)
        if let status = style?.failureStatus, status != 0, !(200...599).contains(status) {
            throw PluginError("\(place): failure_status must be 0 or an HTTP status")
        }
        return style
    }
}

extension UnknownFields {
    /// Returns the message of a field, merged from all its parts; `nil` if the field is not set.
    fileprivate func message<M: Message>(_ number: UInt32, as type: M.Type, _ place: String) throws(PluginError) -> M? {
        var bytes: [UInt8]?
        do {
            try withUnsafeBytes { buffer in
                guard let start = buffer.baseAddress else { return }
                var reader = ProtobufReader(start: start, count: buffer.count)
                while let tag = try reader.nextTag() {
                    guard tag == number << 3 | WireType.delimited else {
                        try reader.skip(tag)
                        continue
                    }
                    bytes = (bytes ?? []) + [UInt8](try reader.delimited())
                }
            }
            return try bytes.map { try M(decoding: $0) }
        } catch {
            throw PluginError("\(place): the option \(number) is malformed: \(error)")
        }
    }
}
