import Basics
import HTTPTypes
import Proto
import TestSupport
import Testing
import Wire

@testable import EventLoops
@testable import RPC
@testable import ThreadCalls

/// A call's exchange over HTTP/1.1 without a connection: the test acts as the connection's thread.
@Suite(.timeLimited) struct ThreadCallStreamTests {
    private static let count = MethodDescriptor(service: "test.Service", name: "Count", kind: .clientStreaming)
    private static let pour = MethodDescriptor(service: "test.Service", name: "Pour", kind: .serverStreaming)

    private let loop = EventLoop(name: "loop")
    private let gate = AsyncStream<Void>.makeStream()
    private let server: RPCServer
    private let progress: CallProgress
    private let stream: ThreadCallStream

    init() throws {
        var router = Router()
        router.add(Self.count) { [gate] (requests: RequestStream<HealthCheckRequest>, _) in
            for await _ in gate.stream { break }
            var names: [String] = []
            for try await request in requests { names.append(String(request.service.prefix { $0 != " " })) }
            return HealthCheckRequest(service: names.joined(separator: " "))
        }
        router.add(Self.pour) { (request: HealthCheckRequest, responses: ResponseWriter<HealthCheckRequest>, _) in
            while true { try await responses.write(request) }
        }
        var limits = RPCLimits()
        // Disabled, because with other tests running these may have to wait minutes for a thread.
        limits.lifecycle.stall = .hours(1)
        server = RPCServer(router: router, limits: limits)
        progress = try #require(CallProgress())
        stream = ThreadCallStream(
            server: server, loop: loop, peer: PeerAddress(host: "192.0.2.1", port: 0), progress: progress)
    }

    private func open(_ method: MethodDescriptor) {
        let fields = [(":method", "POST"), (":path", method.path), ("content-type", "application/connect+proto")]
        loop.run { [stream] in stream.open(fields, hasBody: true) }
    }

    private func send(_ name: String, padding: Int) {
        let request = HealthCheckRequest(service: name + " " + String(repeating: "a", count: padding))
        var piece = request.encoded(reserving: MessagePrefix.byteCount)
        MessagePrefix.write(to: &piece)
        progress.take { [count = piece.count] in $0.unsent += count }
        loop.run { [stream, piece] in stream.receive(piece) }
    }

    private var waitingBytes: Int { progress.take { $0.body.reduce(0) { $0 + $1.count } } }

    private func finish() {
        loop.run { [stream] in stream.finish() }
    }

    @Test func messagesWaitForASlowHandlerAndReachItInOrder() async {
        defer { loop.stop() }
        open(Self.count)
        for number in 0..<50 { send("\(number)", padding: 10_000) }
        finish()
        await loop.probe()
        // The call itself keeps 64 KiB of messages and as much undecoded input, each exceeded by at most one message.
        #expect(progress.take { $0.unsent } > 340_000)
        gate.continuation.yield()
        #expect(progress.wait(socket: -1) { $0.end != nil })
        let (body, unsent) = progress.take { (Array($0.body.joined()), $0.unsent) }
        #expect(String(decoding: body, as: UTF8.self).contains((0..<50).map(String.init).joined(separator: " ")))
        #expect(unsent == 0)
    }

    @Test func unreadResponseIsBoundedCountedAndGivenBack() async {
        defer { loop.stop() }
        open(Self.pour)
        send("pour", padding: 10_000)
        finish()
        // Until the handler waits.
        // Pieces are not divided.
        while waitingBytes <= 256 << 10 - 10_100 { await loop.probe() }
        for _ in 0..<3 { await loop.probe() }
        #expect(waitingBytes <= 256 << 10)
        let waiting = server.metrics.snapshot.responseBytes
        #expect(waiting > 0 && waiting < 128 << 10)
        #expect(server.metrics.snapshot.connectionsOpen == 1)
        loop.run { [stream] in stream.cancel() }
        #expect(progress.wait(socket: -1) { $0.end != nil })
        while server.metrics.snapshot.handlers > 0 { await loop.probe() }
        #expect(server.metrics.snapshot.responseBytes == 0)
        #expect(server.metrics.snapshot.connectionsOpen == 0)
    }

    @Test func pieceLargerThanTheWindowArrivesInParts() async {
        defer { loop.stop() }
        open(Self.pour)
        send("pour", padding: 700_000)
        finish()
        var message: [UInt8] = []
        while message.count < 700_000 {
            #expect(progress.wait(socket: -1) { !$0.body.isEmpty })
            let part = progress.take { state in
                defer { state.body = [] }
                return Array(state.body.joined())
            }
            #expect(part.count <= 256 << 10)
            message += part
            loop.run { [stream] in stream.consume(part.count) }
        }
        // After the prefixes of the message and of its field.
        #expect(String(decoding: message[..<700_000].dropFirst(9), as: UTF8.self).hasPrefix("pour aaaa"))
        #expect(message[100..<700_000].allSatisfy { $0 == UInt8(ascii: "a") })
        loop.run { [stream] in stream.cancel() }
    }

    @Test func readingGoesOnWithTheHandler() async {
        defer { loop.stop() }
        open(Self.pour)
        send("pour", padding: 10_000)
        finish()
        var taken = 0
        while taken < 2_000_000 {
            guard progress.wait(socket: -1, until: { !$0.body.isEmpty || $0.end != nil }) else { break }
            let count = progress.take { state in
                defer { state.body = [] }
                return state.body.reduce(0) { $0 + $1.count }
            }
            taken += count
            loop.run { [stream] in stream.consume(count) }
        }
        #expect(taken >= 2_000_000)
        loop.run { [stream] in stream.cancel() }
    }
}
