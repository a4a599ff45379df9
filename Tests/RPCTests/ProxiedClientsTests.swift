import Basics
import HTTPTypes
import Proto
import TestSupport
import Testing
import Wire

@testable import RPC

/// The clients of a proxy share its connection, and none of them uses up what the connection offers to the others.
@Suite(.timeLimited) struct ProxiedClientsTests {
    private static let proxy = "10.0.0.1"
    private static let echo = MethodDescriptor(service: "test.Service", name: "Echo", kind: .unary)
    private static let hold = MethodDescriptor(service: "test.Service", name: "Hold", kind: .serverStreaming)
    private static let wait = MethodDescriptor(service: "test.Service", name: "Wait", kind: .serverStreaming)
    /// The bytes of a response of `echo`.
    private static let size = 10_000
    /// An empty message.
    private let message = [UInt8](repeating: 0, count: 5)

    private func server(_ limits: RPCLimits) -> RPCServer {
        var router = Router()
        router.add(Self.echo) { (_: HealthCheckRequest, _) -> HealthCheckRequest in
            HealthCheckRequest(service: String(repeating: "a", count: Self.size))
        }
        for method in [Self.hold, Self.wait] {
            router.add(method) { (_: HealthCheckRequest, _: ResponseWriter<HealthCheckResponse>, _: CallContext) in
                let (stream, _) = AsyncStream<Never>.makeStream()
                for await _ in stream {}
                throw CancellationError()
            }
        }
        router.apply(MethodRules(waits: true), to: Self.wait)
        let proxies = TrustedProxies([Self.proxy].compactMap(AddressRange.init))
        return RPCServer(router: router, interceptors: [proxies], limits: limits)
    }

    private func call(
        _ method: MethodDescriptor, for host: String, by client: RawClient
    ) throws -> RawClient.Stream {
        try client.call(
            changing: [":path": method.path], adding: [("x-forwarded-for", host)], body: message)
    }

    @Test func eachClientHasItsWaitingCalls() throws {
        var limits = RPCLimits.small
        (limits.waiting.perConnection, limits.waiting.perAddress) = (1, 2)
        let server = server(limits)
        let client = RawClient(server, from: Self.proxy)
        for host in ["192.0.2.1", "192.0.2.2"] {
            let streams = try (0..<3).map { _ in try call(Self.wait, for: host, by: client) }
            #expect(streams.map { $0["grpc-status"] } == [nil, nil, "14"])
        }
        #expect(server.metrics.snapshot.limits == ["waiting_calls_per_address": 2])
        // Calls of the proxy itself have the limit of the connection.
        let own = try (0..<2).map { _ in try call(Self.wait, for: Self.proxy, by: client) }
        #expect(own.map { $0["grpc-status"] } == [nil, "14"])
    }

    @Test func eachClientHasItsHandlers() throws {
        var limits = RPCLimits.small
        limits.http2.maxConcurrentStreams = 3
        limits.maxHandlersPerAddress = 2
        let server = server(limits)
        let client = RawClient(server, from: Self.proxy)
        let streams = try (0..<3).map { _ in try call(Self.hold, for: "192.0.2.1", by: client) }
        #expect(streams.map { $0["grpc-status"] } == [nil, nil, "14"])
        #expect(server.metrics.snapshot.limits == ["handlers_per_address": 1])
        #expect(try call(Self.echo, for: "192.0.2.2", by: client)["grpc-status"] == "0")
        #expect(client.connection.origin.handlers == 0)
    }

    @Test(arguments: [LifecycleLimits().minimumRate, 0])
    func unreadResponsesOfOneClientDelayNoCallOfAnother(minimumRate: Int) throws {
        var limits = RPCLimits.small
        limits.lifecycle.minimumRate = minimumRate
        limits.maxResponseBytesPerConnection = Self.size
        var settings = HTTP2Settings()
        settings.streamWindow = 0
        let server = server(limits)
        let client = RawClient(server, from: Self.proxy, settings: settings)
        let unread = try call(Self.echo, for: "192.0.2.1", by: client)
        let waiting = server.metrics.snapshot.responseBytes
        #expect(waiting >= Self.size)
        let other = try call(Self.echo, for: "192.0.2.2", by: client)
        #expect(server.metrics.snapshot.responseBytes == 2 * waiting && server.metrics.snapshot.limits.isEmpty)
        // A client that does not read loses its stream, and the connection stays.
        client.loop.pass(2 * limits.lifecycle.stall.loopTime)
        try client.exchange()
        #expect([unread, other].map(\.closeCode) == [HTTP2ErrorCode.cancel.rawValue, HTTP2ErrorCode.cancel.rawValue])
        #expect(server.metrics.snapshot.limits == ["stalled": 2] && server.metrics.snapshot.responseBytes == 0)
        #expect(!client.connection.isAborted && !client.connection.isFinished)
    }

    @Test(arguments: [(proxy, true), ("192.0.2.1", false)])
    func connectionOfAProxyEndsForNoNumberOfResets(host: String, lasts: Bool) throws {
        let client = RawClient(server(.small), from: host)
        for number in 0..<3000 where !client.connection.isFinished {
            let stream = client.begin(adding: [("x-forwarded-for", "192.0.2.\(1 + number % 2)")], body: message)
            try client.send()
            stream.reset(.cancel)
            try client.send()
        }
        try? client.exchange()
        #expect(client.connection.isFinished == !lasts)
        guard lasts else { return }
        #expect(try call(Self.echo, for: "192.0.2.3", by: client)["grpc-status"] == "0")
    }
}
