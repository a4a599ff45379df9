import Basics
import Wire

/// The routes of a server's methods over REST. Filled at start, and only read afterwards.
struct RESTRoutes: Sendable {
    private let routes: [RESTRoute]
    private let tree: RouteTree
    /// The first segments of all paths: below them nothing is another protocol's.
    private let roots: Set<[UInt8]>

    /// `nil` where no method of the router has a route.
    ///
    /// - Parameter json: maps the messages of all routes.
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
    }

    /// The routes of a path, the closest first.
    func matches(_ path: RoutePath) -> [RESTRoute] { tree.routes(for: path).map { routes[$0] } }

    /// Whether a path without a route is REST's nevertheless.
    func owns(_ path: some Collection<UInt8>) -> Bool {
        roots.contains(Array(path.dropFirst().prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ":") }))
    }
}

extension [RESTRoute] {
    /// The route of a request with that HTTP method; HEAD is answered as GET, where the response is one message.
    func route(_ httpMethod: String) -> RESTRoute? {
        first { $0.httpMethod == httpMethod } ?? (httpMethod == "HEAD" ? first { $0.takesHead } : nil)
    }

    /// The methods of all, as the field `allow` lists them.
    var allowed: String {
        var names: [String] = []
        for route in self {
            if !names.contains(route.httpMethod) { names.append(route.httpMethod) }
            if route.takesHead, !names.contains("HEAD") { names.append("HEAD") }
        }
        return (names + ["OPTIONS"]).joined(separator: ", ")
    }
}
