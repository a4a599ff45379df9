import Basics
import Glibc
import HTTPTestClient
import HTTPTypes
import RPC
import Sockets
import TestSupport
import Testing

@testable import HTTPServer

/// The limits of a daemon for its clients.
@Suite(.timeLimited) struct HTTPLimitTests {
    /// Accepts any body; `GET` sends 64 MiB of zeros, for the target `/pieces` from a source that passes ranges of a file.
    private struct Handler: HTTPRequestHandler {
        private static let size: Int64 = 64 << 20

        final class Source: HTTPBodySource, @unchecked Sendable {  // used by the connection's thread alone
            private let file: HTTPFile
            private var position: Int64 = 0
            let hasFiles = true

            init(_ file: HTTPFile) { self.file = file }

            func read(into buffer: UnsafeMutableRawBufferPointer, passesFiles: Bool) -> HTTPBodyPiece? {
                defer { position += Int64(buffer.count) }
                return .file(file, offset: position, count: buffer.count)
            }

            func fileFailed() {}
            func close() {}
        }

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
            ftruncate(descriptor, off_t(Self.size))
            let file = HTTPFile(owning: descriptor)
            let body: HTTPResponse.Body =
                head.target == "/pieces"
                ? .stream(Source(file), length: Self.size) : .file(file, offset: 0, length: Self.size)
            return .respond(HTTPResponse(status: 200, body: body))
        }
    }

    private func start(_ configure: (inout HTTPServerConfiguration) -> Void) throws -> HTTPDaemon {
        var configuration = HTTPServerConfiguration()
        configure(&configuration)
        return try HTTPDaemon(host: "127.0.0.1", port: 0, configuration: configuration, handler: Handler())
    }

    private func slow(_ configuration: inout HTTPServerConfiguration) {
        configuration.minimumRate = 1000
        configuration.slowGrace = .milliseconds(200)
        // With other tests running, this one may have to wait minutes for a thread.
        configuration.idleTimeout = .seconds(3600)
    }

    private func wait(
        for daemon: HTTPDaemon, until isDone: (ConnectionMetrics) -> Bool
    ) async {
        let metrics = daemon.configuration.metrics
        while true {
            let changes = metrics.changes.count
            if isDone(metrics) { return }
            await metrics.changes.wait(after: changes)
        }
    }

    /// Waits until a slow client was disconnected.
    private func waitForSlowClientToBeCut(_ daemon: HTTPDaemon) async {
        await wait(for: daemon) { $0.limits["slow_client"] == 1 }
    }

    @Test func headerThatDoesNotEndIsCutOff() async throws {
        let daemon = try start(slow)
        defer { daemon.stop(drainingFor: .zero) }
        let client = try RawConnection(port: daemon.port)
        try client.send("GET / HT")
        #expect(throws: RawConnection.Failure.self) { try client.response() }
        await waitForSlowClientToBeCut(daemon)
    }

    @Test func slowClientIsCountedOnceHoweverLateItsThreadNotices() throws {
        let daemon = try start {
            $0.minimumRate = 1000
            $0.slowGrace = .seconds(3600)
            $0.headerTimeout = .seconds(3600)
        }
        defer { daemon.stop(drainingFor: .zero) }
        let client = try RawConnection(port: daemon.port)
        try client.send("GET / HT")
        var now = ContinuousClock.now
        func look() {
            now += .seconds(3600)
            daemon.cutSlow(at: now)
        }
        try waitUntil {
            look()
            return daemon.configuration.metrics.limits["slow_client"] != nil
        }
        look()
        #expect(daemon.configuration.metrics.limits["slow_client"] == 1)
    }

    @Test func bodyThatDoesNotComeIsCutOff() async throws {
        let daemon = try start(slow)
        defer { daemon.stop(drainingFor: .zero) }
        let client = try RawConnection(port: daemon.port)
        try client.send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\nsome of it")
        #expect(throws: RawConnection.Failure.self) { try client.response() }
        await waitForSlowClientToBeCut(daemon)
    }

    @Test(arguments: ["/", "/pieces"]) func answerThatIsNotReadIsCutOff(target: String) async throws {
        let daemon = try start(slow)
        defer { daemon.stop(drainingFor: .zero) }
        let client = try RawConnection(port: daemon.port)
        try client.send("GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n")
        await waitForSlowClientToBeCut(daemon)
        #expect(throws: RawConnection.Failure.self) { try client.response() }
    }

    @Test(arguments: ["/", "/pieces"]) func answerOfWhichNothingIsReadEndsAfterTheIdleTime(target: String) async throws
    {
        let daemon = try start {
            $0.minimumRate = 0
            $0.idleTimeout = .seconds(1)
        }
        defer { daemon.stop(drainingFor: .zero) }
        let client = try RawConnection(port: daemon.port, receiveBuffer: 64 << 10)
        try client.send("GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n")
        await wait(for: daemon) { $0.accepted == 1 && $0.open == 0 }
        #expect(throws: RawConnection.Failure.self) { try client.response() }
    }

    @Test func quickAndSilentClientsAreNotCutOff() async throws {
        let daemon = try start(slow)
        defer { daemon.stop(drainingFor: .zero) }
        let silent = try RawConnection(port: daemon.port)
        let slow = try RawConnection(port: daemon.port)
        let quick = try RawConnection(port: daemon.port)
        try slow.send("GET / HT")
        await waitForSlowClientToBeCut(daemon)
        for client in [silent, quick] {
            try client.send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc")
            #expect(try client.response().status == 200)
        }
    }

    @Test func connectionsOfOneAddressAreLimited() async throws {
        let daemon = try start { $0.maximumConnectionsPerAddress = 2 }
        defer { daemon.stop(drainingFor: .zero) }
        func ask(_ client: RawConnection) throws -> Int {
            try client.send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\na")
            return try client.response().status
        }
        var clients = [try RawConnection(port: daemon.port), try RawConnection(port: daemon.port)]
        for client in clients { #expect(try ask(client) == 200) }
        let third = try RawConnection(port: daemon.port)
        #expect(throws: RawConnection.Failure.self) { try ask(third) }
        #expect(daemon.configuration.metrics.limits == ["connections_per_address": 1])
        #expect(daemon.configuration.metrics.open == 2)
        // A client that disconnects frees a place for another.
        clients.removeLast()
        await wait(for: daemon) { $0.open <= 1 }
        #expect(try ask(try RawConnection(port: daemon.port)) == 200)
    }
}
