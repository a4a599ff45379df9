import EventLoops
import Glibc
import HTTPTestClient
import HTTPTypes
import RPC
import TestSupport
import Testing
import Wire

/// The same method over HTTP/2, which sends the bytes of a source as messages.
@Suite(.timeLimited) struct BodySourceOverHTTP2Tests {
    private static let path = "/v1/bodies/a:stream"
    private static let endless = TestSource.Plan(size: .max, announced: 1 << 40)

    private let method = SourceMethod()

    /// - Parameter stops: whether the server is still to be stopped after `body`.
    private func withServer(
        _ plan: TestSource.Plan, _ settings: HTTP2Settings = HTTP2Settings(), stops: Bool = true,
        _ body: (RPCListener, HTTP2Client) async throws -> Void
    ) async throws {
        // Writing to a closed connection is an error, not a signal, in every program that uses event loops.
        signal(SIGPIPE, SIG_IGN)
        let loop = EventLoop(name: "loop")
        let listener = try RPCListener(
            PeerAddress(host: "127.0.0.1", port: 0), server: try method.server(plan), loops: [loop])
        do {
            try await body(listener, try HTTP2Client(port: listener.address.port, settings: settings))
        } catch {
            Issue.record(error)
        }
        if stops { await listener.stop(limit: .zero) }
        loop.stop()
    }

    /// Opens a stream whose received bytes are recorded, and are consumed at once if `consumes`.
    private func get(
        _ client: HTTP2Client, _ fields: [(String, String)] = [], consumes: Bool = true
    ) throws -> HTTP2Client.Stream {
        let stream = try client.open("GET", Self.path, fields)
        stream.onData = { [method, unowned stream] count in
            method.record.received(count)
            if consumes { stream.consume(count) }
        }
        return stream
    }

    @Test func wholeSourceIsSent() async throws {
        try await withServer(TestSource.Plan(announced: 1_000_000)) { _, client in
            let stream = try get(client)
            try client.wait { stream.closeCode != nil }
            #expect(stream.closeCode == HTTP2ErrorCode.noError.rawValue && stream.hasReceivedEnd)
            #expect(stream.fields[":status"] == "200" && stream.fields["content-length"] == "1000000")
            #expect(stream.body.count == 1_000_000 && stream.body.areOfSource)
            try method.waitForEnd()
            #expect(method.ends == [.ok])
            #expect(method.record.counts.releases == 1)
        }
    }

    @Test func resetEndsTheSource() async throws {
        try await withServer(Self.endless) { _, client in
            let stream = try get(client)
            try client.wait { stream.body.count > 1 << 20 }
            stream.reset(.cancel)
            try client.wait { stream.closeCode != nil }
            try method.waitForEnd()
            #expect(method.ends == [.cancelled])
            #expect(method.record.counts.releases == 1)
        }
    }

    @Test func clientThatLeavesEndsTheSource() async throws {
        try await withServer(Self.endless) { listener, _ in
            do {
                let client = try HTTP2Client(port: listener.address.port)
                let stream = try get(client)
                try client.wait { stream.body.count > 1 << 20 }
            }
            try method.waitForEnd()
            #expect(method.ends == [.cancelled])
            #expect(method.record.counts.releases == 1)
        }
    }

    @Test func deadlineResetsTheStream() async throws {
        try await withServer(Self.endless) { _, client in
            let stream = try get(client, [("connect-timeout-ms", "6000")], consumes: false)
            try client.wait { stream.body.count == Int(HTTP2Settings().streamWindow) }
            try method.waitForStatus()
            // The reset follows the bytes that wait for the window.
            stream.onData = { [unowned stream] in stream.consume($0) }
            stream.consume(stream.body.count)
            try client.wait { stream.closeCode != nil }
            #expect(stream.closeCode == HTTP2ErrorCode.internalError.rawValue && !stream.hasReceivedEnd)
            try method.record.waitForRelease()
            #expect(method.ends == [.deadlineExceeded])
        }
    }

    @Test func stopWithoutTimeClosesTheConnection() async throws {
        try await withServer(Self.endless, stops: false) { listener, client in
            let stream = try get(client)
            try client.wait { stream.body.count > 1 << 20 }
            await listener.stop(limit: .zero)
            #expect(throws: RawConnection.Failure.self) { try client.wait { stream.closeCode != nil } }
            #expect(!stream.hasReceivedEnd)
            try method.waitForEnd()
            #expect(method.ends == [.cancelled])
        }
    }

    /// The lead is limited to what the windows of flow control and the call hold; the body is a hundred times as long.
    @Test func sourceIsReadOnlyAsFastAsTheClientReads() async throws {
        var settings = HTTP2Settings()
        settings.streamWindow = 100_000
        let size = 20_000_000
        try await withServer(TestSource.Plan(size: size, announced: size), settings) { _, client in
            let stream = try get(client, consumes: false)
            try client.wait { stream.body.count == 100_000 }
            // Each response follows everything that the server did before.
            for _ in 0..<3 {
                let other = try client.open("HEAD", Self.path)
                try client.wait { other.closeCode != nil }
            }
            #expect(stream.body.count == 100_000)
            #expect(method.record.counts.bytes < 300_000)
            stream.consume(stream.body.count)
            stream.onData = { [method, unowned stream] count in
                method.record.received(count)
                stream.consume(count)
            }
            try client.wait { stream.closeCode != nil }
            #expect(stream.closeCode == HTTP2ErrorCode.noError.rawValue)
            #expect(stream.body.count == size && stream.body.areOfSource)
            #expect(method.record.counts.lead < 300_000)
        }
    }

    @Test(arguments: [0, 300_000, 1_000_000]) func failureResetsTheStream(failure: Int) async throws {
        try await withServer(TestSource.Plan(announced: 1_000_000, failure: failure)) { _, client in
            let stream = try get(client)
            try client.wait { stream.closeCode != nil }
            if failure == 0 {
                // Known before the header section was sent.
                #expect(stream.fields[":status"] == "500")
            } else {
                #expect(stream.closeCode == HTTP2ErrorCode.internalError.rawValue && !stream.hasReceivedEnd)
                #expect(stream.fields[":status"] == "200" && stream.body.areOfSource)
            }
            try method.waitForEnd()
            #expect(method.ends == [.dataLoss])
            #expect(method.record.counts.releases == 1)
        }
    }

    @Test func headMakesNoSource() async throws {
        try await withServer(TestSource.Plan(announced: 1_000_000)) { _, client in
            let stream = try client.open("HEAD", Self.path)
            try client.wait { stream.closeCode != nil }
            #expect(stream.fields[":status"] == "405" && stream.fields["allow"] == "GET, OPTIONS")
            #expect(stream.body.isEmpty)
            #expect(method.record.counts.reads == 0)
        }
    }
}
