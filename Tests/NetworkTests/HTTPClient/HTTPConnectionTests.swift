import Foundation
import HTTPClient
import HTTPTestClient
import HTTPTypes
import TestSupport
import Testing

@Suite(.timeLimited) struct HTTPConnectionTests {
    /// A server that never sends `100 Continue` would otherwise make each request wait for a second.
    @Test(arguments: ["POST", "PUT", "DELETE"])
    func bodiesBelowOneMebibyteAreSentWithoutExpectation(method: String) async throws {
        let receiver = try RawReceiver()
        defer { receiver.stop() }
        let connection = HTTPConnection()
        for size in [0, 1, 541, (1 << 20) - 1] {
            let body = [UInt8](repeating: 7, count: size)
            let reply = try await connection.exchange(
                HTTPRequest(method, "http://127.0.0.1:\(receiver.port)/x", fields: ["a": "b"], body: .bytes(body)))
            #expect(reply.status == 204)
        }
        #expect(receiver.requests.map(\.body.count) == [0, 1, 541, (1 << 20) - 1])
        for request in receiver.requests {
            #expect(!request.head.lowercased().contains("expect"))
            #expect(request.head.contains("a: b"))
        }
    }

    /// libcurl takes a kept connection that is closed without a response for one that the server had closed before.
    @Test(arguments: ["POST", "PUT"])
    func bodyIsNotSentAgainOverAnotherConnection(method: String) async throws {
        let receiver = try RawReceiver(closing: { $0.head.contains("/close") })
        defer { receiver.stop() }
        let connection = HTTPConnection()
        func send(_ path: String) async throws {
            _ = try await connection.exchange(
                HTTPRequest(method, "http://127.0.0.1:\(receiver.port)\(path)", body: .bytes([1, 2, 3])))
        }
        try await send("/x")
        // libcurl keeps no connection that was idle for two minutes, as on a machine that stalls, so the reason may be either one.
        await #expect(throws: TransferFailure.self) { try await send("/close") }
        #expect(receiver.requests.count == 2)
        try await send("/x")
    }

    @Test func bodyOfOneMebibyteIsSentAfterTheServerCouldRefuse() async throws {
        let receiver = try RawReceiver()
        defer { receiver.stop() }
        let body = [UInt8](repeating: 7, count: 1 << 20)
        let reply = try await HTTPConnection().exchange(
            HTTPRequest("PUT", "http://127.0.0.1:\(receiver.port)/x", body: .bytes(body)))
        #expect(reply.status == 204)
        #expect(receiver.requests.map { $0.head.contains("Expect: 100-continue") } == [true])
        #expect(receiver.requests.map(\.body.count) == [1 << 20])
    }

    @Test func connectionIsKeptForFurtherRequestsAndClosedAtTheEnd() async throws {
        let (ends, end) = AsyncStream<Int>.makeStream()
        let server = try RawServer { peer in
            var count = 0
            while (try? peer.head()) != nil {
                count += 1
                try peer.send("HTTP/1.1 204 No Content\r\n\r\n")
            }
            end.yield(count)
        }
        defer { server.stop() }
        do {
            let connection = HTTPConnection()
            for _ in 0..<5 {
                #expect(try await connection.exchange(HTTPRequest("GET", server.url)).status == 204)
            }
        }
        var total = 0
        for await count in ends {
            total += count
            if total == 5 { break }
        }
        // libcurl keeps no connection that was idle for two minutes, as on a machine that stalls.
        #expect(server.accepted < 5)
    }

    @Test func fileIsSentWithinTheRateLimitAndReported() async throws {
        let receiver = try RawReceiver()
        defer { receiver.stop() }
        let folder = try TestFolder()
        let size = 300_000
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 2) }
        try Data(bytes).write(to: folder.url.appending(path: "a"))
        let file = try FileReader(folder.path + "/a")
        let sent = Ended()
        let connection = HTTPConnection(HTTPConnection.Options(sendLimit: RateLimit(bytesPerSecond: 2_000_000)))
        let reply = try await connection.exchange(
            HTTPRequest("PUT", "http://127.0.0.1:\(receiver.port)/x", body: .ranged(file, 100..<Int64(size)))
        ) { sent.count($0) }
        #expect(reply.status == 204)
        #expect(receiver.requests.map(\.body) == [Array(bytes[100...])])
        #expect(sent.value == size - 100)
        await #expect(throws: TransferFailure.connection("the file became shorter while it was sent")) {
            try await connection.exchange(
                HTTPRequest("PUT", "http://127.0.0.1:\(receiver.port)/x", body: .ranged(file, 0..<Int64(size) + 1)))
        }
        #expect(receiver.requests.count == 1)
    }

    @Test func failureOfAReceiverEndsTheExchange() async throws {
        struct Full: Error {}
        let server = try RawServer { peer in
            _ = try peer.head()
            try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345")
            _ = peer.body(1)
        }
        defer { server.stop() }
        await #expect(throws: Full.self) {
            try await HTTPConnection().exchange(
                HTTPRequest("GET", server.url),
                receiver: HTTPReceiver { status, _ in
                    status == 200
                } receive: { _ in
                    throw Full()
                })
        }
    }

    @Test(arguments: [1, 2]) func canceledExchangesEndAlsoWhileTheyWait(atATime: Int) async throws {
        let server = try RawServer(nil)
        defer { server.stop() }
        var options = HTTPConnection.Options()
        options.maximumExchanges = atATime
        let connection = HTTPConnection(options)
        let tasks = (0..<4).map { _ in Task { try await connection.exchange(HTTPRequest("GET", server.url)) } }
        for task in tasks.reversed() { task.cancel() }
        for task in tasks {
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }
}
