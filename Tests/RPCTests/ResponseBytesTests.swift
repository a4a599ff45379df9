import Proto
import TestSupport
import Testing
import Wire

@testable import RPC

@Suite(.timeLimited) struct ResponseBytesTests {
    private static let method = MethodDescriptor(service: "test.Service", name: "Echo", kind: .unary)
    private static let size = 10_000
    /// An empty message.
    private let message = [UInt8](repeating: 0, count: 5)

    /// Makes a server whose one method responds with 10,000 bytes.
    private func server(_ limits: RPCLimits, _ rules: MethodRules = MethodRules()) -> RPCServer {
        var router = Router()
        router.add(Self.method) { (_: HealthCheckRequest, _) -> HealthCheckRequest in
            HealthCheckRequest(service: String(repeating: "a", count: Self.size))
        }
        router.apply(rules, to: Self.method)
        return RPCServer(router: router, limits: limits)
    }

    /// Makes a client that accepts no byte of a body.
    private func unreading(_ server: RPCServer, from host: String = "192.0.2.1") -> RawClient {
        var settings = HTTP2Settings()
        settings.streamWindow = 0
        return RawClient(server, from: host, settings: settings)
    }

    @Test func oneAddressHasItsShareOfWaitingAnswers() throws {
        var limits = RPCLimits.small
        limits.maxResponseBytes = 3 * Self.size
        limits.maxResponseBytesPerAddress = Self.size
        let server = server(limits)
        let clients = (0..<2).map { _ in unreading(server) }
        #expect(try clients.map { try $0.call(body: message)["grpc-status"] } == [nil, "14"])
        #expect(server.metrics.snapshot.limits == ["response_bytes_per_address": 1])
        let others = (2...4).map { unreading(server, from: "192.0.2.\($0)") }
        #expect(try others.map { try $0.call(body: message)["grpc-status"] } == [nil, nil, "14"])
        #expect(server.metrics.snapshot.limits == ["response_bytes_per_address": 1, "response_bytes": 1])
        withExtendedLifetime((clients, others)) {}
    }

    @Test func aConnectionThatIsNotReadStartsNoCall() throws {
        var limits = RPCLimits.small
        limits.maxResponseBytesPerConnection = Self.size
        let server = server(limits)
        var client: RawClient? = unreading(server)
        _ = try client?.call(body: message)
        let waiting = server.metrics.snapshot.responseBytes
        #expect(waiting >= Self.size)
        _ = try client?.call(body: message)
        #expect(server.metrics.snapshot.responseBytes == waiting)
        let origin = client?.connection.origin
        #expect(origin?.handlers == 1)
        client = nil
        #expect(server.metrics.snapshot.responseBytes == 0)
        #expect(origin?.handlers == 0)
    }

    @Test func callsThatCameInOnePieceStartOneByOne() throws {
        var limits = RPCLimits.small
        limits.maxResponseBytesPerConnection = Self.size
        let server = server(limits)
        let client = unreading(server)
        try client.loop.holdingTasks {
            for _ in 0..<3 { _ = try client.call(body: message) }
        }
        #expect(server.metrics.snapshot.responseBytes < 2 * Self.size)
        #expect(client.connection.origin.handlers == 2)
        #expect(server.metrics.snapshot.limits == ["response_bytes_per_connection": 2])
    }

    @Test func readResponseBytesAreNoLongerCounted() throws {
        let server = server(.small)
        let reply = try RawClient(server).call(body: message)
        #expect(reply["grpc-status"] == "0")
        #expect(reply.body.count > Self.size)
        #expect(server.metrics.snapshot.responseBytes == 0)
    }

    @Test func oneAddressHasItsShareOfRequestBytes() throws {
        var limits = RPCLimits.small
        (limits.maxMessageSize, limits.maxRequestBytesPerAddress) = (20_000, 12_000)
        let server = server(limits)
        // A message that has not ended.
        let half: [UInt8] = [0, 0, 0, 0x4E, 0x20] + [UInt8](repeating: 0, count: 8000)
        let clients = [RawClient(server), RawClient(server), RawClient(server, from: "192.0.2.2")]
        let replies = try clients.map { try $0.call(body: half, isWhole: false)["grpc-status"] }
        #expect(replies == [nil, "14", nil])
        #expect(server.metrics.snapshot.limits == ["request_bytes_per_address": 1])
        withExtendedLifetime(clients) {}
    }

    @Test func aMethodMayTakeSmallerMessages() throws {
        let request = HealthCheckRequest(service: String(repeating: "a", count: 100))
        var body = request.encoded(reserving: MessagePrefix.byteCount)
        MessagePrefix.write(to: &body)
        let reply = try RawClient(server(.small, MethodRules(maximumRequest: 100))).call(body: body)
        #expect(reply["grpc-status"] == "8")
        #expect(try RawClient(server(.small)).call(body: body)["grpc-status"] == "0")
    }
}
