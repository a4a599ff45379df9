import Basics
import Dispatch
import EventLoops
import HTTPServer
import HTTPTestClient
import HTTPTypes
import Proto
import RPC
import Synchronization
import TestSupport
import Testing
import ThreadCalls
import Wire

/// Calls over HTTP/1.1 by a client that sends exactly the bytes of a test.
@Suite(.timeLimited) struct RPCRequestHandlerTests {
    /// Reports the ends of calls with their status.
    private final class Ends: Interceptor {
        private let statuses = Lock<[StatusCode]>([])
        private let ended = DispatchSemaphore(value: 0)
        let admitted = DispatchSemaphore(value: 0)

        func received(_ context: CallContext) { admitted.signal() }

        func finished(_ context: CallContext, status: StatusCode, error: RPCError?) {
            statuses.withLock { $0.append(status) }
            ended.signal()
        }

        /// Waits until a call has ended, and returns its status.
        func next() throws -> StatusCode {
            try ended.waitForSignal()
            return statuses.withLock { $0.removeFirst() }
        }
    }

    private static let echo = MethodDescriptor(
        service: "test.Service", name: "Echo", kind: .unary, isSideEffectFree: true)
    private static let wait = MethodDescriptor(service: "test.Service", name: "Wait", kind: .unary)
    private static let pour = MethodDescriptor(service: "test.Service", name: "Pour", kind: .serverStreaming)
    private static let fill = MethodDescriptor(service: "test.Service", name: "Fill", kind: .clientStreaming)

    private let ends = Ends()
    private let started = DispatchSemaphore(value: 0)
    private let gate = AsyncStream<Void>.makeStream()
    private let large = HealthCheckRequest(service: String(repeating: "a", count: 3_000_000))

    private func withDaemon(
        _ configure: (inout HTTPServerConfiguration) -> Void = { _ in }, _ body: (HTTPDaemon) throws -> Void
    ) throws {
        var router = Router()
        router.add(Self.echo) { (request: HealthCheckRequest, context) in
            context.responseMetadata.append(
                name: "x-seen", value: context.metadata.pairs.map(\.name).joined(separator: " "))
            context.responseMetadata.append(name: "x-peer", value: context.peer.host)
            return request
        }
        router.add(Self.wait) { [started, gate] (request: HealthCheckRequest, _) in
            started.signal()
            for await _ in gate.stream { return request }
            throw CancellationError()
        }
        router.add(Self.fill) { [started] (requests: RequestStream<HealthCheckRequest>, _) in
            started.signal()
            var last = HealthCheckRequest()
            for try await request in requests { last = request }
            return last
        }
        router.add(Self.pour) { (request: HealthCheckRequest, responses: ResponseWriter<HealthCheckRequest>, _) in
            while true { try await responses.write(request) }
        }
        let loops = [EventLoop(name: "one"), EventLoop(name: "two")]
        var configuration = HTTPServerConfiguration()
        configuration.connectionMemory = 64 << 10
        configure(&configuration)
        let server = RPCServer(
            router: router, interceptors: [ends],
            web: WebProtocols(json: JSONMapping(schema: try Schema(ProtoFiles.all))))
        let daemon = try HTTPDaemon(
            host: "127.0.0.1", port: 0, configuration: configuration,
            handler: RPCRequestHandler(server: server, loops: loops))
        defer {
            daemon.stop(drainingFor: .zero)
            for loop in loops { loop.stop() }
        }
        try body(daemon)
    }

    private func post(_ path: String, _ fields: String = "Content-Type: application/json", length: Int) -> String {
        "POST /test.Service/\(path) HTTP/1.1\r\nHost: h\r\n\(fields)\r\nContent-Length: \(length)\r\n\r\n"
    }

    private func frame(_ message: [UInt8]) -> [UInt8] {
        var frame = [0, 0, 0, 0, 0] + message
        MessagePrefix.write(to: &frame)
        return frame
    }

    @Test func callsFollowEachOtherOnAConnection() throws {
        try withDaemon { daemon in
            let client = try RawConnection(port: daemon.port)
            let body = #"{"service":"hi"}"#
            for _ in 0..<3 {
                try client.send(post("Echo", length: body.utf8.count) + body)
                let response = try client.response()
                #expect(response.status == 200)
                #expect(response.text == body)
                #expect(response.fields["content-length"] == "\(body.utf8.count)")
                #expect(response.fields["x-peer"] == "127.0.0.1")
            }
            let chunks = "5\r\n{\"ser\r\nb\r\nvice\":\"hi\"}\r\n0\r\n\r\n"
            try client.send(
                "POST /test.Service/Echo HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
                    + "Transfer-Encoding: chunked\r\n\r\n\(chunks)")
            #expect(try client.response().text == body)
            try client.send("GET /test.Service/Echo?encoding=json&message=%7B%7D HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try client.response().text == "{}")
        }
    }

    /// A message larger than the windows and the daemon's memory together.
    @Test func aLargeMessageGoesBothWays() throws {
        try withDaemon { daemon in
            let client = try RawConnection(port: daemon.port)
            try client.send(post("Echo", "Content-Type: application/proto", length: large.encodedSize))
            try client.send(large.encoded())
            #expect(try client.response().status == 200)
            #expect(try client.chunkedBody() == large.encoded())
        }
    }

    @Test(arguments: ["Host:", "Host: a b", "Host: a/b"])
    func hostThatIsNoneIsRefused(host: String) throws {
        try withDaemon { daemon in
            let client = try RawConnection(port: daemon.port)
            try client.send("GET /test.Service/Echo?encoding=json&message=%7B%7D HTTP/1.1\r\n\(host)\r\n\r\n")
            #expect(try client.response().status == 400)
            #expect(client.isClosed())
        }
    }

    @Test func fieldsOfTheConnectionAreNotMetadata() throws {
        try withDaemon { daemon in
            let client = try RawConnection(port: daemon.port)
            let fields =
                "Content-Type: application/json\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nTE: gzip\r\n"
                + "Keep-Alive: 5\r\nX-Stays: 1"
            try client.send(post("Echo", fields, length: 2) + "{}")
            #expect(try client.response().fields["x-seen"] == "x-stays")
        }
    }

    @Test(arguments: [
        ("POST /test.Service/Echo", "Content-Type: application/grpc+proto", 415), ("GET /nothing", "X-A: 1", 404),
        ("POST /test.Service/Echo", "Content-Type: text/plain", 415), ("HEAD /test.Service/Echo", "X-A: 1", 405),
        ("OPTIONS /test.Service/Echo", "Origin: http://a", 405), ("OPTIONS /", "Origin: http://a", 404),
        ("PROPFIND /test.Service/Echo", "X-A: 1", 405), ("GET /test.Service/Wait?encoding=json", "X-A: 1", 405),
        ("GET /test.Service/Echo", "X-A: 1", 400), ("POST /\u{1}", "X-A: 1", 400),
    ])
    func requestThatIsNoCallIsRefused(line: String, field: String, status: Int) throws {
        try withDaemon { daemon in
            let client = try RawConnection(port: daemon.port)
            try client.send("\(line) HTTP/1.1\r\nHost: h\r\n\(field)\r\n\r\n")
            let isHead = line.hasPrefix("HEAD")
            let response = try client.response(toHead: isHead)
            #expect(response.status == status)
            #expect(isHead || response.status == 400 || response.text.hasPrefix(#"{"code":""#))
        }
    }

    @Test func oversizedBodyIsDrainedAndAnswered() throws {
        try withDaemon({ $0.maximumDrain = 6 << 20 }) { daemon in
            let client = try RawConnection(port: daemon.port)
            let body = [UInt8](repeating: 0x20, count: 8 << 20)
            try client.send(post("Echo", length: body.count))
            try client.send(body)
            #expect(try client.response().status == 429)
            #expect(try ends.next() == .resourceExhausted)
            // The body is longer than the server reads for the sake of the response.
            try client.send(post("Echo", length: 4 * body.count))
            #expect(throws: RawConnection.Failure.self) {
                for _ in 0..<4 { try client.send(body) }
                _ = try client.response()
            }
        }
    }

    @Test func aSlowBodyIsCutOff() throws {
        try withDaemon({ $0.bodyTimeout = .zero }) { daemon in
            let client = try RawConnection(port: daemon.port)
            try client.send(post("Echo", length: 2))
            try ends.admitted.waitForSignal()
            try client.send("{")
            #expect(client.isClosed())
            #expect(try ends.next() == .cancelled)
        }
    }

    @Test func aStreamOfMessagesMayTakeLonger() throws {
        try withDaemon({ $0.bodyTimeout = .zero }) { daemon in
            let client = try RawConnection(port: daemon.port)
            let request = frame(Array(#"{"service":"hi"}"#.utf8))
            try client.send(post("Fill", "Content-Type: application/connect+json", length: 2 * request.count))
            try started.waitForSignal()
            for _ in 0..<2 { try client.send(request) }
            #expect(try client.response().status == 200)
            #expect(try ends.next() == .ok)
        }
    }

    @Test func halfABodyIsNoCall() throws {
        try withDaemon { daemon in
            do {
                let client = try RawConnection(port: daemon.port)
                try client.send(post("Wait", length: 10) + "{")
                try ends.admitted.waitForSignal()
            }
            #expect(try ends.next() == .cancelled)
            #expect(started.wait(timeout: .now()) == .timedOut)
        }
    }

    @Test func aClientThatLeavesCancelsItsCall() throws {
        try withDaemon { daemon in
            do {
                let client = try RawConnection(port: daemon.port)
                try client.send(post("Wait", length: 2) + "{}")
                try started.waitForSignal()
            }
            #expect(try ends.next() == .cancelled)
        }
    }

    @Test func aStreamComesInChunksUntilItsReaderLeaves() throws {
        try withDaemon { daemon in
            do {
                let client = try RawConnection(port: daemon.port)
                let request = frame(Array(#"{"service":"hi"}"#.utf8))
                try client.send(post("Pour", "Content-Type: application/connect+json", length: request.count))
                try client.send(request)
                let response = try client.response()
                #expect(response.status == 200)
                #expect(response.fields["transfer-encoding"] == "chunked")
                #expect(!client.isClosed())
            }
            #expect(try ends.next() == .cancelled)
        }
    }

    @Test func theEndWaitsForCallsUnderWay() throws {
        try withDaemon { daemon in
            let client = try RawConnection(port: daemon.port)
            try client.send(post("Wait", length: 2) + "{}")
            try started.waitForSignal()
            let stop = TestThread { daemon.stop(drainingFor: .seconds(10)) }
            gate.continuation.yield()
            #expect(try client.response().text == "{}")
            #expect(client.isClosed())
            try stop.join()
        }
    }

    @Test func theEndCutsOffWhatGoesOn() throws {
        try withDaemon { daemon in
            let client = try RawConnection(port: daemon.port)
            try client.send(post("Wait", length: 2) + "{}")
            try started.waitForSignal()
            daemon.stop(drainingFor: .zero)
            #expect(try ends.next() == .cancelled)
            #expect(client.isClosed())
        }
    }
}
