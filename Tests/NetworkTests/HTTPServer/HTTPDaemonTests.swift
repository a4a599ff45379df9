import Basics
import Dispatch
import Glibc
import HTTPServer
import HTTPTestClient
import HTTPTypes
import RPC
import Sockets
import TestSupport
import Testing

/// A handler: `PUT` and `POST` return the request's body, which at `/bulk` may take any time; `/refuse` responds to the header,
/// `/file` sends a range of a file.
private struct EchoHandler: HTTPRequestHandler {
    final class Sink: HTTPBodySink {
        private var body: [UInt8] = []
        private let abandoned: DispatchSemaphore
        let isBulk: Bool

        init(abandoned: DispatchSemaphore, isBulk: Bool) {
            self.abandoned = abandoned
            self.isBulk = isBulk
        }

        func receive(_ bytes: UnsafeRawBufferPointer) { body.append(contentsOf: bytes) }
        func finish() -> HTTPResponse { HTTPResponse(status: 200, body: .bytes(body)) }
        func abandon() { abandoned.signal() }
    }

    let abandoned = DispatchSemaphore(value: 0)

    func begin(_ head: HTTPRequestHead) -> HTTPDisposition {
        if head.target == "/refuse" {
            return .respond(HTTPResponse(status: 403, body: .bytes(Array("no".utf8))))
        }
        if head.target == "/secret" { return .respond(HTTPResponse(status: 401)) }
        if head.target == "/file" {
            let descriptor = open("/proc/self/exe", O_RDONLY | O_CLOEXEC)
            return .respond(HTTPResponse(status: 206, body: .file(HTTPFile(owning: descriptor), offset: 1, length: 3)))
        }
        if head.method == "PUT" || head.method == "POST" {
            return .receive(Sink(abandoned: abandoned, isBulk: head.target == "/bulk"))
        }
        let fields: HTTPFields = [
            "x-target": head.target, "x-host": head.fields["host"] ?? "none", "x-peer": head.peer,
            "x-niceness": "\(ThreadPriority.current)",
        ]
        return .respond(HTTPResponse(status: 200, fields: fields, body: .bytes(Array("hello".utf8))))
    }
}

@Suite(.timeLimited) struct HTTPDaemonTests {
    private let handler = EchoHandler()

    private func start(_ configure: (inout HTTPServerConfiguration) -> Void = { _ in }) throws -> HTTPDaemon {
        var configuration = HTTPServerConfiguration()
        configure(&configuration)
        return try HTTPDaemon(host: "127.0.0.1", port: 0, configuration: configuration, handler: handler)
    }

    @Test(arguments: [0, 5]) func threadsOfConnectionsHaveTheConfiguredPriority(niceness: Int32) throws {
        let daemon = try start { $0.niceness = niceness }
        defer { daemon.stop(drainingFor: .seconds(1)) }
        for _ in 0..<2 {
            let client = try RawConnection(port: daemon.port)
            try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try client.response().fields["x-niceness"] == "\(max(ThreadPriority.current, niceness))")
        }
    }

    @Test func keepsAConnectionAndTheRawTarget() throws {
        let daemon = try start()
        defer { daemon.stop(drainingFor: .seconds(1)) }
        let client = try RawConnection(port: daemon.port)
        for target in ["/a%2Fb%00c?x=%41&y", "//x/%zz/"] {
            try client.send("GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n")
            let response = try client.response()
            #expect(response.status == 200)
            #expect(response.fields["x-target"] == target)
            #expect(response.fields["x-peer"] == "127.0.0.1")
            #expect(response.text == "hello")
        }
    }

    @Test(arguments: [
        ("http://store:80/a%2Fb?x", "Host: other", "store:80", "/a%2Fb?x"),
        ("HTTPS://store", "Host: store", "store", "/"),
        ("http://[::1]?x=/", "Host:", "[::1]", "/?x=/"), ("/a://b", "Host: h", "h", "/a://b"),
    ])
    func hostOfATargetReplacesTheField(target: String, field: String, host: String, path: String) throws {
        let daemon = try start()
        defer { daemon.stop(drainingFor: .seconds(1)) }
        let client = try RawConnection(port: daemon.port)
        for _ in 0..<2 {
            try client.send("GET \(target) HTTP/1.1\r\n\(field)\r\n\r\n")
            let response = try client.response()
            #expect(response.status == 200)
            #expect(response.fields["x-target"] == path && response.fields["x-host"] == host)
        }
    }

    @Test(arguments: ["ftp://x/a", "http:///a", "http://u@x/a", "*", "x"])
    func otherTargetsAreRefused(target: String) throws {
        let daemon = try start()
        defer { daemon.stop(drainingFor: .seconds(1)) }
        let client = try RawConnection(port: daemon.port)
        try client.send("GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try client.response().status == 400)
        #expect(client.isClosed())
    }

    @Test func emptyExpectationExpectsNothing() throws {
        let daemon = try start()
        defer { daemon.stop(drainingFor: .seconds(1)) }
        let client = try RawConnection(port: daemon.port)
        try client.send("PUT / HTTP/1.1\r\nHost: h\r\nExpect:\r\nContent-Length: 4\r\n\r\ndata")
        #expect(try client.response().text == "data")
    }

    @Test func unauthorizedResponseHasAChallenge() throws {
        let daemon = try start()
        defer { daemon.stop(drainingFor: .seconds(1)) }
        let client = try RawConnection(port: daemon.port)
        try client.send("GET /secret HTTP/1.1\r\nHost: h\r\n\r\n")
        let response = try client.response()
        #expect(response.status == 401 && response.fields["www-authenticate"] == "Bearer")
    }

    @Test func bulkDataMayTakeLongerThanOtherBodies() throws {
        let daemon = try start { $0.bodyTimeout = .zero }
        defer { daemon.stop(drainingFor: .seconds(1)) }
        let bulk = try RawConnection(port: daemon.port)
        try bulk.send("PUT /bulk HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\n")
        try bulk.send("data")
        #expect(try bulk.response().text == "data")
        let other = try RawConnection(port: daemon.port)
        try other.send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\n")
        try other.send("data")
        #expect(other.isClosed())
    }

    @Test func listensOnIPv6() throws {
        let daemon = try HTTPDaemon(host: "::1", port: 0, handler: handler)
        defer { daemon.stop(drainingFor: .seconds(1)) }
        #expect(daemon.host == "::1")
        let client = try RawConnection(host: "::1", port: daemon.port)
        try client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try client.response().fields["x-peer"] == "::1")
    }

    @Test func bodyArrivesInPieces() throws {
        let daemon = try start()
        defer { daemon.stop(drainingFor: .seconds(1)) }
        let client = try RawConnection(port: daemon.port)
        let body = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try client.send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: \(body.count)\r\n\r\n")
        try client.send(body)
        #expect(try client.response().body == body)
        try client.send(
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
        #expect(try client.response().text == "abcde")
        try client.send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n")
        #expect(try client.response().status == 200)
    }

    @Test func refusesBefore100Continue() throws {
        let daemon = try start()
        defer { daemon.stop(drainingFor: .seconds(1)) }
        let client = try RawConnection(port: daemon.port)
        try client.send("PUT /refuse HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
        #expect(try client.response().status == 403)

        let willing = try RawConnection(port: daemon.port)
        try willing.send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
        #expect(try willing.response().status == 100)
        try willing.send("12345")
        #expect(try willing.response().text == "12345")
    }

    @Test func readsARefusedBodySoThatTheAnswerArrives() throws {
        let daemon = try start { $0.maximumDrain = 4 << 20 }
        defer { daemon.stop(drainingFor: .seconds(1)) }
        let client = try RawConnection(port: daemon.port)
        try client.send("PUT /refuse HTTP/1.1\r\nHost: h\r\nContent-Length: \(4 << 20)\r\n\r\n")
        try client.send([UInt8](repeating: 7, count: 4 << 20))
        #expect(try client.response().text == "no")
        try client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try client.response().status == 200)

        try client.send("PUT /refuse HTTP/1.1\r\nHost: h\r\nContent-Length: \(4 << 20 + 1)\r\n\r\n")
        #expect(try client.response().status == 403)
        #expect(client.isClosed())
    }

    @Test(arguments: [
        "Content-Length: 1\r\nContent-Length: 1",
        "Content-Length: 3\r\nTransfer-Encoding: chunked",
        "Content-Length : 3",
        "Transfer-Encoding: chunked, gzip",
        "Host: twice",
    ])
    func closesAfterASmuggledHeader(lines: String) throws {
        let daemon = try start()
        defer { daemon.stop(drainingFor: .seconds(1)) }
        let client = try RawConnection(port: daemon.port)
        try client.send("PUT / HTTP/1.1\r\nHost: h\r\n\(lines)\r\n\r\n")
        #expect(try client.response().status == 400)
        #expect(client.isClosed())
    }

    @Test func sendsAFileRangeAndHead() throws {
        let daemon = try start()
        defer { daemon.stop(drainingFor: .seconds(1)) }
        let client = try RawConnection(port: daemon.port)
        try client.send("GET /file HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try client.response().text == "ELF")
        try client.send("HEAD /file HTTP/1.1\r\nHost: h\r\n\r\n")
        let head = try client.response(toHead: true)
        #expect(head.status == 206)
        #expect(head.fields["content-length"] == "3")
        try client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try client.response().text == "hello")
    }

    @Test func tellsTheSinkThatTheClientLeft() throws {
        let daemon = try start()
        defer { daemon.stop(drainingFor: .seconds(1)) }
        do {
            let client = try RawConnection(port: daemon.port)
            try client.send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc")
        }
        #expect(throws: Never.self) { try handler.abandoned.waitForSignal() }
    }

    @Test func stopsAndFreesItsPort() throws {
        let daemon = try start()
        let idle = try RawConnection(port: daemon.port)
        try idle.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        _ = try idle.response()
        daemon.stop(drainingFor: .seconds(5))
        #expect(idle.isClosed())
        let again = try HTTPDaemon(host: "127.0.0.1", port: daemon.port, handler: handler)
        defer { again.stop(drainingFor: .seconds(1)) }
        #expect(again.port == daemon.port)
    }

    @Test func saysWhyItCannotListen() throws {
        let daemon = try start()
        defer { daemon.stop(drainingFor: .seconds(1)) }
        let taken = PeerAddress(host: "127.0.0.1", port: Int(daemon.port))
        #expect(throws: HTTPDaemon.StartError.listen(ListenError(address: taken, errno: EADDRINUSE))) {
            try HTTPDaemon(host: "127.0.0.1", port: daemon.port, handler: handler)
        }
        let unknown = PeerAddress(host: "no such host", port: 0)
        #expect(throws: HTTPDaemon.StartError.listen(ListenError(address: unknown, errno: 0))) {
            try HTTPDaemon(host: "no such host", port: 0, handler: handler)
        }
    }
}
