import Foundation
import Proto
import TestSupport
import Testing
import Wire

/// The routes that clients use, and the lists of them: `Tests/Acceptance/routes.txt`, whose lines stay, and the table of
/// docs/rest.md. With `WRITE_ROUTES=1` in the environment the lists are written.
@Suite(.timeLimited) struct RouteListTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    private static let list = root.appending(path: "Tests/Acceptance/routes.txt")
    private static let document = root.appending(path: "docs/rest.md")
    private static let isWriting = ProcessInfo.processInfo.environment["WRITE_ROUTES"] == "1"

    private static let methods: [MethodDescriptor] = {
        var registry = Registry()
        for file in ProtoFiles.all {
            guard let descriptor = try? FileDescriptorProto(decoding: file.serialized) else { continue }
            registry.add(descriptor)
        }
        return registry.methods
    }()

    private struct Registry {
        var methods: [MethodDescriptor] = []

        mutating func add(_ file: FileDescriptorProto) {
            for service in file.service {
                for method in service.method where method.clientStreaming != true {
                    methods.append(
                        MethodDescriptor(
                            service: "\(file.package ?? "").\(service.name ?? "")", name: method.name ?? "",
                            kind: method.serverStreaming == true ? .serverStreaming : .unary))
                }
            }
        }
    }

    private static func body(_ route: HTTPRoute) -> String {
        switch route.body {
        case .none: "-"
        case .whole: "*"
        case .field(let name): name
        }
    }

    private static let lines = ProtoFiles.routes.map { route in
        "\(route.httpMethod) \(route.template.text) \(route.method.path.dropFirst()) \(body(route)) \(route.responseBody ?? "*")"
    }

    private static let table: String = {
        var text = "| RPC | request |\n|---|---|\n"
        var services: [(name: String, routes: [HTTPRoute])] = []
        for route in ProtoFiles.routes {
            if services.last?.name != route.method.service { services.append((route.method.service, [])) }
            services[services.count - 1].routes.append(route)
        }
        for (name, routes) in services.sorted(by: { $0.name < $1.name }) {
            text += "| **\(name)** | |\n"
            for route in routes { text += "| \(route.method.name) | `\(route.httpMethod) \(route.template.text)` |\n" }
        }
        return text
    }()

    @Test func everyMethodThatTakesOneMessageHasARoute() {
        let routed = Set(ProtoFiles.routes.map(\.method.path))
        #expect(Self.methods.count > 60)
        for method in Self.methods { #expect(routed.contains(method.path), "\(method.path) has no route") }
    }

    @Test func routesThatClientsUseStay() throws {
        if Self.isWriting {
            let known = (try? String(contentsOf: Self.list, encoding: .utf8)) ?? ""
            let all = Set(known.split(separator: "\n").map(String.init) + Self.lines).sorted()
            try (all.joined(separator: "\n") + "\n").write(to: Self.list, atomically: true, encoding: .utf8)
        }
        let fixed = Set(try String(contentsOf: Self.list, encoding: .utf8).split(separator: "\n").map(String.init))
        #expect(fixed.subtracting(Self.lines).sorted() == [], "a route that clients use is missing or has changed")
        #expect(
            Set(Self.lines).subtracting(fixed).sorted() == [],
            "routes.txt lacks routes: run the test with WRITE_ROUTES=1 and commit what it writes")
    }

    @Test func tableOfTheDocumentHasEveryRoute() throws {
        let (start, end) = ("<!-- routes -->\n", "<!-- end of routes -->")
        var text = try String(contentsOf: Self.document, encoding: .utf8)
        let begin = try #require(text.range(of: start)?.upperBound)
        let stop = try #require(text.range(of: end)?.lowerBound)
        if Self.isWriting {
            text.replaceSubrange(begin..<stop, with: "\n\(Self.table)\n")
            try text.write(to: Self.document, atomically: true, encoding: .utf8)
        } else {
            #expect(text[begin..<stop] == "\n\(Self.table)\n", "the table is stale: run the test with WRITE_ROUTES=1")
        }
    }
}
