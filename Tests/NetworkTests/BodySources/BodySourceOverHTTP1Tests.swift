import Basics
import Dispatch
import EventLoops
import GRPCWire
import Glibc
import HTTPTestClient
import Synchronization
import TestSupport
import Testing
import ThreadCalls

@testable import HTTPServer

/// Responses over HTTP/1.1 whose bytes are read from a source while they are sent.
@Suite(.timeLimited) struct BodySourceOverHTTP1Tests {
    private static let endless = TestSource.Plan(size: .max, announced: 1 << 40)
    private static let endlessWithFile = TestSource.Plan(size: .max, announced: 1 << 40, file: 65_000..<1_500_000)

    /// The requests that ended, as the daemon reports them.
    private final class Requests: HTTPObserver {
        let records = Lock<[HTTPRequestRecord]>([])

        func ended(_ record: HTTPRequestRecord) { records.withLock { $0.append(record) } }
    }

    private let method = SourceMethod()
    private let requests = Requests()

    /// Starts a daemon, and stops it after `body`.
    private func withDaemon(_ plan: TestSource.Plan, _ body: (HTTPDaemon) throws -> Void) throws {
        let loop = EventLoop(name: "loop")
        var configuration = HTTPServerConfiguration()
        configuration.observers = [requests]
        let daemon = try HTTPDaemon(
            host: "127.0.0.1", port: 0, configuration: configuration,
            handler: RPCRequestHandler(server: try method.server(plan), loops: [loop]))
        defer {
            daemon.stop(drainingFor: .zero)
            loop.stop()
        }
        try body(daemon)
    }

    private func get(_ client: RawConnection, _ method: String = "GET", _ fields: String = "") throws
        -> RawConnection.Response
    {
        try client.send("\(method) /v1/bodies/a:stream HTTP/1.1\r\nHost: h\r\n\(fields)\r\n")
        return try client.response(toHead: true)
    }

    @Test(arguments: [1_000_000, nil])
    func wholeSourceIsSentAndTheConnectionGoesOn(announced: Int?) throws {
        try withDaemon(TestSource.Plan(announced: announced)) { daemon in
            let client = try RawConnection(port: daemon.port)
            for _ in 0..<2 {
                let response = try get(client)
                #expect(response.status == 200)
                #expect(response.fields["content-length"] == announced.map(String.init))
                let body = try announced.map { try client.body($0) } ?? client.chunkedBody()
                #expect(body.count == 1_000_000 && body.areOfSource)
                try method.waitForEnd()
            }
            #expect(method.ends == [.ok, .ok])
            #expect(method.record.counts.releases == 2)
        }
    }

    /// The positions of the bytes that the kernel sends from a file: in the middle, from the first or up to the last, and all.
    @Test(arguments: [1000..<999_000, 0..<500_000, 500_000..<1_000_000, 0..<1_000_000])
    func bytesOfAFileAreSentInTheirPlace(file: Range<Int>) throws {
        try withDaemon(TestSource.Plan(announced: 1_000_000, file: file)) { daemon in
            let client = try RawConnection(port: daemon.port)
            let response = try get(client)
            #expect(response.status == 200 && response.fields["content-length"] == "1000000")
            #expect(response.fields["connection"]?.lowercased() == "close")
            let body = try client.rest()
            #expect(body.count == 1_000_000 && body.areOfSource)
            try method.waitForEnd()
            #expect(method.ends == [.ok])
            #expect(method.record.counts.releases == 1)
        }
        #expect(requests.records.withLock { $0.map(\.isWhole) } == [true])
    }

    @Test func fileThatIsShorterBreaksTheResponse() throws {
        try withDaemon(TestSource.Plan(announced: 1_000_000, file: 1000..<999_000, cut: 300_000)) { daemon in
            let client = try RawConnection(port: daemon.port)
            #expect(try get(client).status == 200)
            let body = try client.rest()
            #expect(body.count < 1_000_000 && body.areOfSource)
            try method.waitForEnd()
            #expect(method.ends == [.dataLoss])
        }
        #expect(requests.records.withLock { $0.map(\.isWhole) } == [false])
    }

    /// Closing a socket with unread bytes would reset the connection before the response has arrived.
    @Test func requestThatArrivesDuringTheResponseCutsNothing() throws {
        try withDaemon(TestSource.Plan(size: 8_000_000, announced: 8_000_000, file: 1000..<7_999_000)) { daemon in
            let client = try RawConnection(port: daemon.port, receiveBuffer: 64 << 10)
            #expect(try get(client).status == 200)
            // The server sends the rest now, or waits for the client to read it.
            try client.send("GET /v1/bodies/a:stream HTTP/1.1\r\nHost: h\r\n\r\n")
            let body = try client.rest()
            #expect(body.count == 8_000_000 && body.areOfSource)
            try method.waitForEnd()
            #expect(method.ends == [.ok])
        }
        #expect(requests.records.withLock { $0.map(\.isWhole) } == [true])
    }

    @Test(arguments: [false, true], [endless, endlessWithFile])
    func clientThatLeavesEndsTheSource(resets: Bool, plan: TestSource.Plan) throws {
        try withDaemon(plan) { daemon in
            do {
                let client = try RawConnection(port: daemon.port)
                if resets { client.resetAtEnd() }
                #expect(try get(client).status == 200)
                _ = try client.body(100_000)
            }
            try method.waitForEnd()
            #expect(method.ends == [.cancelled])
            #expect(method.record.counts.releases == 1)
        }
    }

    @Test(arguments: [endless, endlessWithFile]) func deadlineCutsTheResponse(plan: TestSource.Plan) throws {
        var plan = plan
        plan.gate = 1 << 20
        try withDaemon(plan) { daemon in
            let client = try RawConnection(port: daemon.port)
            #expect(try get(client, "GET", "Connect-Timeout-Ms: 6000\r\n").status == 200)
            try method.record.arrived.waitForSignal()
            // The call ends while the source is being read.
            try method.waitForStatus()
            method.record.gate.signal()
            #expect(try client.rest().count < 2 << 20)
            try method.record.waitForRelease()
            #expect(method.ends == [.deadlineExceeded])
            #expect(method.record.counts.releases == 1)
        }
    }

    @Test(arguments: [endless, endlessWithFile]) func stopWithoutTimeCutsTheResponse(plan: TestSource.Plan) throws {
        try withDaemon(plan) { daemon in
            let client = try RawConnection(port: daemon.port)
            #expect(try get(client).status == 200)
            daemon.stop(drainingFor: .zero)
            #expect(try client.rest().areOfSource)
            try method.waitForEnd()
            #expect(method.ends == [.cancelled])
        }
    }

    @Test(arguments: [0..<0, 1000..<999_000]) func stopWaitsForTheEndOfTheSource(file: Range<Int>) throws {
        try withDaemon(TestSource.Plan(announced: 1_000_000, gate: 500_000, file: file)) { daemon in
            let client = try RawConnection(port: daemon.port)
            #expect(try get(client).status == 200)
            try method.record.arrived.waitForSignal()
            let stop = TestThread { daemon.stop(drainingFor: .seconds(60)) }
            try waitUntil { daemon.isStopping }
            method.record.gate.signal()
            let body = try client.rest()
            #expect(body.count == 1_000_000 && body.areOfSource)
            try stop.join()
            #expect(method.ends == [.ok])
        }
    }

    /// The lead has the size of the kernel's buffers, which is a fraction of the body's.
    @Test(arguments: [0..<0, 1000..<9_000_000]) func sourceIsReadOnlyAsFastAsTheClientReads(file: Range<Int>) throws {
        let size = 64 << 20
        try withDaemon(TestSource.Plan(size: size, announced: size, file: file)) { daemon in
            let client = try RawConnection(port: daemon.port, receiveBuffer: 64 << 10)
            #expect(try get(client).status == 200)
            var left = size
            while left > 0, let some = try client.next() {
                left -= some.count
                method.record.received(some.count)
            }
            #expect(left == 0)
            #expect(method.record.counts.lead < 8 << 20)
        }
    }

    /// The position of a failure, the announced length, and the length of the source; in the last cases the source does not fail.
    @Test(
        arguments: [
            (0, 1_000_000, 1_000_000), (300_000, 1_000_000, 1_000_000), (1_000_000, 1_000_000, 1_000_000),
            (nil, 1_000_000, 300_000), (nil, 1_000_000, 1_000_001),
        ], [0..<0, 1000..<900_000])
    func incompleteResponseIsShorterThanAnnounced(
        _ lengths: (failure: Int?, announced: Int, size: Int), file: Range<Int>
    ) throws {
        let (failure, announced, size) = lengths
        try withDaemon(TestSource.Plan(size: size, announced: announced, failure: failure, file: file)) { daemon in
            let client = try RawConnection(port: daemon.port)
            let response = try get(client)
            #expect(response.status == 200 && response.fields["content-length"] == "\(announced)")
            let body = try client.rest()
            #expect(body.count < announced && body.areOfSource)
            try method.waitForEnd()
            #expect(method.ends.count == 1)
            #expect(method.record.counts.releases == 1)
        }
    }

    @Test(arguments: [0, 300_000, 1_000_000]) func incompleteResponseHasNoLastChunk(failure: Int) throws {
        try withDaemon(TestSource.Plan(failure: failure)) { daemon in
            let client = try RawConnection(port: daemon.port)
            let response = try get(client)
            #expect(response.status == 200 && response.fields["transfer-encoding"] == "chunked")
            #expect(throws: RawConnection.Failure.self) { try client.chunkedBody() }
            #expect(client.isClosed())
            try method.waitForEnd()
            #expect(method.ends == [.dataLoss])
        }
    }

    @Test func headMakesNoSource() throws {
        try withDaemon(TestSource.Plan(announced: 1_000_000)) { daemon in
            let client = try RawConnection(port: daemon.port)
            for _ in 0..<2 {
                let response = try get(client, "HEAD")
                #expect(response.status == 405)
                #expect(response.fields["allow"] == "GET, OPTIONS")
            }
            #expect(method.record.counts.reads == 0)
        }
    }
}
