import Glibc
import HTTPTestClient
import HTTPTypes
import RPC
import TestSupport
import Testing

@testable import HTTPServer

/// What a daemon does to clients that take too much of it.
@Suite(.timeLimited) struct HTTPLimitTests {
    /// Takes any body; `GET` sends 64 MiB of nothing.
    private struct Handler: HTTPRequestHandler {
        final class Sink: HTTPBodySink {
            func receive(_ bytes: UnsafeRawBufferPointer) {}
            func finish() -> HTTPResponse { HTTPResponse(status: 200) }
            func abandon() {}
        }

        func begin(_ head: HTTPRequestHead) -> HTTPDisposition {
            guard head.method == "GET" else { return .receive(Sink()) }
            let path = "/tmp/http-limit-\(Glibc.random())"
            let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            unlink(path)
            ftruncate(descriptor, 64 << 20)
            return .respond(
                HTTPResponse(status: 200, body: .file(HTTPFile(owning: descriptor), offset: 0, length: 64 << 20)))
        }
    }

    private func start(_ configure: (inout HTTPDaemon.Configuration) -> Void) throws -> HTTPDaemon {
        var configuration = HTTPDaemon.Configuration()
        configure(&configuration)
        return try HTTPDaemon(host: "127.0.0.1", port: 0, configuration: configuration, handler: Handler())
    }

    private func slow(_ configuration: inout HTTPDaemon.Configuration) {
        configuration.minimumRate = 1000
        configuration.slowGrace = .milliseconds(200)
    }

    /// Waits until a limit was reached once, and no longer than the test client waits for an answer.
    private func reached(_ limit: String, _ daemon: HTTPDaemon) -> Bool {
        for _ in 0..<1000 {
            if daemon.configuration.metrics.limits[limit] == 1 { return true }
            usleep(10_000)
        }
        return false
    }

    @Test func aHeaderThatDoesNotEnd() throws {
        let daemon = try start(slow)
        defer { daemon.stop(drainingFor: 0) }
        let client = try RawConnection(port: daemon.port)
        try client.send("GET / HT")
        #expect(throws: RawConnection.Failure.self) { try client.answer() }
        #expect(reached("slow_client", daemon))
    }

    @Test func aBodyThatDoesNotCome() throws {
        let daemon = try start(slow)
        defer { daemon.stop(drainingFor: 0) }
        let client = try RawConnection(port: daemon.port)
        try client.send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\nsome of it")
        #expect(throws: RawConnection.Failure.self) { try client.answer() }
        #expect(reached("slow_client", daemon))
    }

    @Test func anAnswerThatIsNotRead() throws {
        let daemon = try start(slow)
        defer { daemon.stop(drainingFor: 0) }
        let client = try RawConnection(port: daemon.port)
        try client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(reached("slow_client", daemon))
        #expect(throws: RawConnection.Failure.self) { try client.answer() }
    }

    @Test func aClientThatIsQuickAndOneThatIsSilent() throws {
        let daemon = try start(slow)
        defer { daemon.stop(drainingFor: 0) }
        let silent = try RawConnection(port: daemon.port)
        let slow = try RawConnection(port: daemon.port)
        let quick = try RawConnection(port: daemon.port)
        try slow.send("GET / HT")
        #expect(reached("slow_client", daemon))
        for client in [silent, quick] {
            try client.send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc")
            #expect(try client.answer().status == 200)
        }
    }

    @Test func connectionsOfOneAddress() throws {
        let daemon = try start { $0.maximumConnectionsPerAddress = 2 }
        defer { daemon.stop(drainingFor: 0) }
        func ask(_ client: RawConnection) throws -> Int {
            try client.send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\na")
            return try client.answer().status
        }
        var clients = [try RawConnection(port: daemon.port), try RawConnection(port: daemon.port)]
        for client in clients { #expect(try ask(client) == 200) }
        let third = try RawConnection(port: daemon.port)
        #expect(throws: RawConnection.Failure.self) { try ask(third) }
        #expect(daemon.configuration.metrics.limits == ["connections_per_address": 1])
        #expect(daemon.configuration.metrics.open == 2)
        // Who leaves makes room.
        clients.removeLast()
        for _ in 0..<1000 where daemon.configuration.metrics.open > 1 { usleep(10_000) }
        #expect(try ask(try RawConnection(port: daemon.port)) == 200)
    }
}
