import Protobuf

/// Prints a service: its methods' descriptors, the protocol that a server implements, and a client.
struct ServicePrinter {
    private struct Method {
        let name: String
        let swiftName: String
        let input: String
        let output: String
        let kind: CallKind
        let isSideEffectFree: Bool
        let isRepeatable: Bool
        let routes: [HTTPRules.Route]
        /// The full names of the request and response messages.
        let messages: (input: String, output: String)
        let comment: [String]
    }

    private let name: String
    private let fullName: String
    private let comment: [String]
    private let access: String
    private let style: AnnotationHTTPStyle?
    private var methods: [Method] = []

    init(service: ServiceDescriptorProto, path: [Int32], file: SourceFile) throws(PluginError) {
        name = (file.options.prefixes[file.package] ?? "") + (service.name ?? "")
        fullName = file.fullName(service.name ?? "")
        comment = file.comment(at: path)
        access = file.access
        style = try AnnotationHTTPStyle.of(service, place: "\(file.name): \(service.name ?? "")")
        for (index, method) in service.method.enumerated() {
            let kind: CallKind =
                switch (method.clientStreaming ?? false, method.serverStreaming ?? false) {
                case (false, false): .unary
                case (true, false): .clientStreaming
                case (false, true): .serverStreaming
                case (true, true): .bidirectionalStreaming
                }
            methods.append(
                Method(
                    name: method.name ?? "", swiftName: SwiftNames.method(method.name ?? ""),
                    input: try file.types[method.inputType ?? ""].swiftName,
                    output: try file.types[method.outputType ?? ""].swiftName, kind: kind,
                    isSideEffectFree: method.options?.idempotencyLevel == .noSideEffects,
                    isRepeatable: [.noSideEffects, .idempotent].contains(method.options?.idempotencyLevel),
                    routes: try HTTPRules(method, service: service.name ?? "", file: file).routes(),
                    messages: (
                        String((method.inputType ?? "").drop { $0 == "." }),
                        String((method.outputType ?? "").drop { $0 == "." })
                    ),
                    comment: file.comment(at: path + [2, Int32(index)])))
        }
    }

    /// The paths of the unary methods, and whether they are declared free of side effects or idempotent.
    var unaryMethods: [(path: String, isRepeatable: Bool)] {
        methods.filter { $0.kind == .unary }.map { ("/\(fullName)/\($0.name)", $0.isRepeatable) }
    }

    func print(to code: inout CodeWriter) throws(PluginError) {
        try printHandler(to: &code)
        code.line()
        try printRegistration(to: &code)
        code.line()
        try printDescriptors(to: &code)
        code.line()
        try printClient(to: &code)
    }

    private func printHandler(to code: inout CodeWriter) throws(PluginError) {
        code.lines(comment)
        try code.block("\(access)protocol \(name)Handler: Sendable") { code throws(PluginError) in
            code.line("associatedtype Context: Sendable")
            for method in methods {
                code.line()
                code.lines(method.comment)
                let request =
                    switch method.kind {
                    case .unary, .serverStreaming: "_ request: \(method.input)"
                    case .clientStreaming, .bidirectionalStreaming: "_ requests: RequestStream<\(method.input)>"
                    }
                switch method.kind {
                case .unary, .clientStreaming:
                    code.line(
                        "func \(method.swiftName)(\(request), context: Context) async throws -> \(method.output)")
                case .serverStreaming, .bidirectionalStreaming:
                    let responses = "responses: ResponseWriter<\(method.output)>"
                    code.line("func \(method.swiftName)(\(request), \(responses), context: Context) async throws")
                }
            }
        }
    }

    private func printRegistration(to code: inout CodeWriter) throws(PluginError) {
        try code.block("extension \(name)Handler") { code throws(PluginError) in
            code.line("/// Enters every method of the service.")
            let header = "\(access)func register(in registry: inout some MethodRegistry<Context>)"
            try code.block(header) { code throws(PluginError) in
                for method in methods {
                    let single = "{ try await self.\(method.swiftName)($0, context: $1) }"
                    let streaming = "{ try await self.\(method.swiftName)($0, responses: $1, context: $2) }"
                    let (label, closure) =
                        switch method.kind {
                        case .unary: ("unary", single)
                        case .clientStreaming: ("clientStreaming", single)
                        case .serverStreaming: ("serverStreaming", streaming)
                        case .bidirectionalStreaming: ("bidirectional", streaming)
                        }
                    code.line("registry.add(\(name)Methods.\(method.swiftName), \(label): \(closure))")
                }
            }
        }
    }

    private func printDescriptors(to code: inout CodeWriter) throws(PluginError) {
        try code.block("\(access)enum \(name)Methods") { code throws(PluginError) in
            code.line("\(access)static let service = \"\(fullName)\"")
            for method in methods {
                let safety = method.isSideEffectFree ? ", isSideEffectFree: true" : ""
                let arguments = "service: service, name: \"\(method.name)\", kind: .\(method.kind)\(safety)"
                code.line("\(access)static let \(method.swiftName) = MethodDescriptor(\(arguments))")
            }
            let all = methods.map(\.swiftName).joined(separator: ", ")
            code.line("\(access)static let all: [MethodDescriptor] = [\(all)]")
            if hasRoutes { printRoutes(to: &code) }
        }
    }

    private var hasRoutes: Bool { methods.contains { !$0.routes.isEmpty } }

    /// The expression for the service's routes in other generated code; `nil` = it has none.
    var routesName: String? { hasRoutes ? "\(name)Methods.routes" : nil }

    /// The HTTP method and the path of each route, with every variable replaced by its pattern.
    var routeShapes: [String] {
        methods.flatMap { method in
            method.routes.map { "\($0.httpMethod) \($0.template.path { _, pattern in pattern })" }
        }
    }

    private func printRoutes(to code: inout CodeWriter) {
        code.line("/// The HTTP requests that call the methods.")
        code.line("\(access)static let routes: [HTTPRoute] = [")
        for method in methods {
            for route in method.routes {
                let expression = RoutePrinter.expression(
                    route, of: method.swiftName, messages: method.messages, style: style)
                code.line("    \(expression),")
            }
        }
        code.line("]")
    }

    private func printClient(to code: inout CodeWriter) throws(PluginError) {
        code.lines(comment)
        let header = "\(access)struct \(name)Client<Transport: CallTransport>: Sendable"
        try code.block(header) { code throws(PluginError) in
            code.line("\(access)let transport: Transport")
            code.line()
            code.line("\(access)init(_ transport: Transport) { self.transport = transport }")
            for method in methods {
                let parameters = "_ request: \(method.input), options: CallOptions = CallOptions()"
                let call = "\(name)Methods.\(method.swiftName), request, options: options"
                switch method.kind {
                case .unary:
                    code.line()
                    code.lines(method.comment)
                    let header = "\(access)func \(method.swiftName)(\(parameters)) async throws -> \(method.output)"
                    try code.block(header) { code throws(PluginError) in
                        code.line("try await transport.unary(\(call))")
                    }
                case .serverStreaming:
                    code.line()
                    code.lines(method.comment)
                    let receive = "receive: @escaping @Sendable (\(method.output)) async throws -> Void"
                    let header = "\(access)func \(method.swiftName)(\(parameters), \(receive)) async throws"
                    try code.block(header) { code throws(PluginError) in
                        code.line("try await transport.serverStreaming(\(call), receive: receive)")
                    }
                case .clientStreaming, .bidirectionalStreaming:
                    continue  // `CallTransport` has no such calls
                }
            }
        }
    }
}
