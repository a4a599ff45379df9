import Basics
import Protobuf
import ProtobufJSON
import REST

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
