package import GRPCWire
import Glibc
package import Protobuf

/// Finds the method for a `:path`. Filled at start with the services of one listener, and only read afterwards.
package struct Router: MethodRegistry, Sendable {
    package typealias Context = CallContext

    private struct Entry: Sendable {
        let path: [UInt8]
        var method: any Method
    }

    /// The methods by the hash of the path.
    private var entries: [UInt64: Entry] = [:]

    /// The REST routes of registered methods, in the order of `add(routes:)`.
    package private(set) var httpRoutes: [HTTPRoute] = []

    package init() {}

    /// The full names of the registered services, sorted.
    package var services: [String] {
        Set(descriptors.map(\.service)).sorted()
    }

    /// The descriptors of all registered methods.
    package var descriptors: [MethodDescriptor] { entries.values.map(\.method.descriptor) }

    /// The counters of each method, in the order of their paths.
    package var methods: [(descriptor: MethodDescriptor, metrics: MethodMetrics)] {
        entries.values.map { ($0.method.descriptor, $0.method.metrics) }.sorted { $0.0.path < $1.0.path }
    }

    func method(_ path: UnsafeBufferPointer<UInt8>) -> (any Method)? {
        guard let entry = entries[Self.hash(path)], entry.path.count == path.count, let start = path.baseAddress,
            memcmp(entry.path, start, path.count) == 0
        else { return nil }
        return entry.method
    }

    /// Returns the method for a path as text.
    func method(_ path: Substring) -> (any Method)? {
        var path = path
        return path.withUTF8 { method($0) }
    }

    /// Adds the routes of registered methods; others are ignored.
    package mutating func add(routes: [HTTPRoute]) {
        httpRoutes += routes.filter { method(Substring($0.method.path)) != nil }
    }

    /// The routes with their methods.
    var routes: [(route: HTTPRoute, method: any Method)] {
        httpRoutes.compactMap { route in method(Substring(route.method.path)).map { (route, $0) } }
    }

    /// Applies `rules` to the calls of a registered method.
    package mutating func apply(_ rules: MethodRules, to method: MethodDescriptor) {
        let hash = Array(method.path.utf8).withUnsafeBufferPointer { Self.hash($0) }
        guard let registered = entries[hash]?.method, registered.descriptor == method else {
            preconditionFailure("\(method.path) has to be registered before its rules")
        }
        entries[hash]?.method = registered.with(rules)
    }

    /// Returns the router for a server.
    ///
    /// - Parameter admission: the server's; `nil` = everybody may call all methods.
    func admitting(by admission: (any Admission)?) -> Router {
        var router = self
        router.entries = entries.mapValues { entry in
            var entry = entry
            var rules = entry.method.rules
            rules.needsAdmission = admission?.isNeeded(for: entry.method.descriptor) ?? false
            entry.method = entry.method.with(rules)
            return entry
        }
        return router
    }

    private mutating func insert(_ method: any Method) {
        let path = Array(method.descriptor.path.utf8)
        let hash = path.withUnsafeBufferPointer { Self.hash($0) }
        precondition(entries[hash] == nil, "\(method.descriptor.path) is registered twice, or its hash is taken")
        entries[hash] = Entry(path: path, method: method)
    }

    /// Returns the 64-bit FNV-1a hash: the path is looked up without making a string from it.
    private static func hash(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return hash
    }

    package mutating func add<Input: Message, Output: Message>(
        _ method: MethodDescriptor,
        unary handler: @escaping @Sendable (Input, CallContext) async throws -> Output
    ) {
        insert(UnaryMethod(descriptor: method, handler: handler))
    }

    package mutating func add<Input: Message, Output: Message>(
        _ method: MethodDescriptor,
        serverStreaming handler:
            @escaping @Sendable (Input, ResponseWriter<Output>, CallContext) async throws -> Void
    ) {
        insert(
            StreamingMethod<Input, Output>(descriptor: method) { requests, responses, context in
                var only: Input?
                for try await request in requests {
                    guard only == nil else { throw RPCError.invalidRequest("\(method.path) takes one message") }
                    only = request
                }
                guard let only else { throw RPCError.invalidRequest("\(method.path) takes one message") }
                try await handler(only, responses, context)
            })
    }

    package mutating func add<Input: Message, Output: Message>(
        _ method: MethodDescriptor,
        clientStreaming handler: @escaping @Sendable (RequestStream<Input>, CallContext) async throws -> Output
    ) {
        insert(
            StreamingMethod<Input, Output>(descriptor: method) { requests, responses, context in
                try await responses.write(try await handler(requests, context))
            })
    }

    package mutating func add<Input: Message, Output: Message>(
        _ method: MethodDescriptor,
        bidirectional handler:
            @escaping @Sendable (RequestStream<Input>, ResponseWriter<Output>, CallContext) async throws -> Void
    ) {
        insert(StreamingMethod(descriptor: method, handler: handler))
    }
}

/// A registered method: makes its calls.
protocol Method: AnyObject, Sendable {
    var descriptor: MethodDescriptor { get }

    var metrics: MethodMetrics { get }

    var rules: MethodRules { get }

    /// Returns the same method with other rules for its calls.
    func with(_ rules: MethodRules) -> any Method

    /// The full names of the request and response messages.
    var messages: (input: String, output: String) { get }

    func call(_ setup: consuming CallSetup) -> ServerCall
}
