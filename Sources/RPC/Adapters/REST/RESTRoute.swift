import Basics
import CommonProto
import GRPCWire
import JSON
import Protobuf
import ProtobufJSON
import REST

/// A route of a registered method, with the HTTP forms of its messages.
final class RESTRoute: Sendable {
    enum RequestBody: Sendable {
        case none
        /// JSON of the request, or of one of its fields.
        case json(FieldSchema?)
        /// Any bytes, as a `google.api.HttpBody`, which is the request or one of its fields.
        case raw(FieldSchema?)
    }

    enum ResponseBody: Sendable {
        /// JSON of the response.
        case message
        /// JSON of one of its fields.
        case field(FieldSchema)
        /// The bytes of one of its fields.
        case bytes(FieldSchema)
        /// The bytes of the response, which is a `google.api.HttpBody`.
        case httpBody
    }

    let method: any Method
    let requestBody: RequestBody
    /// Whether a request without a body is refused.
    let requiresBody: Bool
    let responseBody: ResponseBody
    let captures: [(variable: RouteTemplate.Variable, field: FieldPath)]
    /// The field of the request that a PATCH sets if its client does not (AIP-134).
    let updateMask: FieldSchema?
    let json: JSONMapping
    private let route: HTTPRoute

    /// The schema must contain the route's messages and fields; the generator has checked them.
    init(_ route: HTTPRoute, _ method: any Method, _ json: JSONMapping) {
        self.route = route
        self.method = method
        self.json = json
        captures = route.template.variables.map { variable in
            guard let field = FieldPath(variable.field, in: route.input, of: json.schema) else {
                preconditionFailure("\(route.input) has no field \(variable.field)")
            }
            return (variable, field)
        }
        let input = json.schema.messages[route.input]
        let output = json.schema.messages[route.output]
        switch route.body {
        case .none: requestBody = .none
        case .whole: requestBody = route.input == HttpBody.fullName ? .raw(nil) : .json(nil)
        case .field(let name):
            guard let field = input?.field(name) else { preconditionFailure("\(route.input) has no field \(name)") }
            requestBody = field.typeName == HttpBody.fullName ? .raw(field) : .json(field)
        }
        requiresBody = route.requiresBody(json.schema)
        if let name = route.responseBody {
            guard let field = output?.field(name) else { preconditionFailure("\(route.output) has no field \(name)") }
            responseBody = field.kind == .bytes && !field.isRepeated ? .bytes(field) : .field(field)
        } else {
            responseBody = route.output == HttpBody.fullName ? .httpBody : .message
        }
        let masks = input?.fields.filter { $0.typeName == FieldMask.fullName && !$0.isRepeated } ?? []
        if route.httpMethod == "PATCH", case .field = route.body, masks.count == 1 {
            updateMask = masks[0]
        } else {
            updateMask = nil
        }
    }

    var template: RouteTemplate { route.template }
    var httpMethod: String { route.httpMethod }
    var style: RESTStyle { route.style }
    var response: RESTResponse { route.response }
    var input: String { route.input }
    var output: String { route.output }

    /// Whether the body of a response is JSON, and not bytes of any type.
    var respondsInJSON: Bool {
        switch responseBody {
        case .message, .field: true
        case .bytes, .httpBody: false
        }
    }

    var kind: CallKind { method.descriptor.kind }

    /// Whether the route handles HEAD.
    var takesHead: Bool { httpMethod == "GET" && kind == .unary }

    /// Whether the query can have fields: those that are neither in the path nor in the body.
    var takesQuery: Bool {
        if case .whole = route.body { false } else { true }
    }

    var format: JSONFormat { JSONFormat(unset: style.unset, usesProtoNames: style.protoNames) }

    /// The message type of the body's JSON or form.
    var bodyType: String {
        if case .json(let field?) = requestBody { field.typeName } else { input }
    }

    /// Returns the body of a response with a message, and its content type if the message defines it.
    func body(of message: ArraySlice<UInt8>) throws(RPCError) -> (bytes: [UInt8], contentType: String?) {
        do throws(JSONError) {
            switch responseBody {
            case .message: return (try json.text(encoded: Array(message), of: output, format: format), Self.json)
            case .field(let field):
                return (try json.text(of: field, in: Array(message), of: output, format: format), Self.json)
            case .bytes(let field): return (EncodedFields.bytes(field.number, of: message), nil)
            case .httpBody:
                let type = EncodedFields.bytes(1, of: message)
                return (EncodedFields.bytes(2, of: message), type.isEmpty ? nil : String(decoding: type, as: UTF8.self))
            }
        } catch {
            throw RPCError(bare: .internalError, "the response has no JSON form: \(error.explanation)")
        }
    }

    static let json = "application/json"
}

/// The REST routes of a server's methods. Filled at start, and only read afterwards.
struct RESTRoutes: Sendable {
    private let routes: [RESTRoute]
    private let tree: RouteTree
    /// The first segments of all paths; no other protocol uses paths below them.
    private let roots: Set<[UInt8]>
    /// Whether the clients of all routes expect forms of their own, so that a path without a route is answered in REST as well.
    private let ownsAllPaths: Bool

    /// `nil` if no method of the router has a route.
    ///
    /// - Parameter json: converts the messages of all routes.
    init?(_ router: Router, _ json: JSONMapping) {
        routes = router.routes.map { RESTRoute($0.route, $0.method, json) }
        if routes.isEmpty { return nil }
        var tree = RouteTree()
        var roots: Set<[UInt8]> = []
        var shapes: Set<String> = []
        for (index, route) in routes.enumerated() {
            tree.insert(route.template, route: index)
            if case .literal(let text)? = route.template.segments.first { roots.insert(Array(text.utf8)) }
            let shape = "\(route.httpMethod) \(route.template.path { _, pattern in pattern })"
            precondition(shapes.insert(shape).inserted, "two methods have the route \(shape)")
        }
        self.tree = tree
        self.roots = roots
        ownsAllPaths = routes.allSatisfy { $0.style != RESTStyle() }
    }

    /// Returns the routes of the most specific template that matches a path. It alone decides which HTTP methods the path has:
    /// `GET /codes/check` is not a read of the code `check` if there is `POST /codes/check`.
    func matches(_ path: RoutePath) -> [RESTRoute] {
        let found = tree.routes(for: path).map { routes[$0] }
        return found.filter { $0.template.segments == found[0].template.segments }
    }

    /// Returns the form of the error for a path without a route: that of the routes with which it shares the most segments, if their
    /// errors have the same form.
    func style(of path: some Collection<UInt8>) -> RESTStyle {
        let segments = path.split(separator: UInt8(ascii: "/")).map { Array($0) }
        let shared = routes.map { ($0.style, $0.template.count(sharedWith: segments)) }
        let most = shared.map(\.1).max()
        let nearest = shared.filter { $0.1 == most }.map(\.0)
        guard let first = nearest.first, nearest.allSatisfy({ $0.errors == first.errors }) else { return RESTStyle() }
        return nearest.allSatisfy { $0 == first } ? first : RESTStyle(errors: first.errors)
    }

    /// Whether a path without a route still belongs to REST.
    func owns(_ path: some Collection<UInt8>) -> Bool {
        ownsAllPaths
            || roots.contains(Array(path.dropFirst().prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ":") }))
    }
}

extension [RESTRoute] {
    /// Returns the route for the HTTP method; HEAD is handled as GET if the response is one message.
    func route(_ httpMethod: String) -> RESTRoute? {
        first { $0.httpMethod == httpMethod } ?? (httpMethod == "HEAD" ? first { $0.takesHead } : nil)
    }

    /// The HTTP methods of all routes, in the form of the field `allow`.
    var allowed: String {
        var names: [String] = []
        for route in self {
            if !names.contains(route.httpMethod) { names.append(route.httpMethod) }
            if route.takesHead, !names.contains("HEAD") { names.append("HEAD") }
        }
        return (names + ["OPTIONS"]).joined(separator: ", ")
    }
}

extension RouteTemplate {
    /// Returns the number of leading literal segments that a path has as well.
    fileprivate func count(sharedWith path: [[UInt8]]) -> Int {
        zip(segments, path).prefix { segment, text in
            if case .literal(let literal) = segment { Array(literal.utf8) == text } else { false }
        }.count
    }
}
