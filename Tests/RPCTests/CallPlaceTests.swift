import Proto
import TestSupport
import Testing
import Wire

@testable import RPC

@Suite(.timeLimited) struct CallPlaceTests {
    private static let method = MethodDescriptor(service: "test.Service", name: "Echo", kind: .serverStreaming)
    /// An empty message.
    private let message = [UInt8](repeating: 0, count: 5)

    /// Makes a server whose one method does not respond until its call is aborted.
    private func server(_ rules: MethodRules, _ limits: RPCLimits) -> RPCServer {
        var router = Router()
        router.add(Self.method) {
            (_: HealthCheckRequest, _: ResponseWriter<HealthCheckResponse>, _: CallContext) in
            let (stream, _) = AsyncStream<Never>.makeStream()
            for await _ in stream {}
            throw CancellationError()
        }
        router.apply(rules, to: Self.method)
        return RPCServer(router: router, limits: limits)
    }

    @Test func oneAddressHasItsShareOfTheHandlers() throws {
        var limits = RPCLimits.small
        limits.maxHandlers = 3
        limits.maxHandlersPerAddress = 2
        let server = server(MethodRules(), limits)
        let clients = (0..<3).map { _ in RawClient(server) }
        let replies = try clients.map { try $0.call(body: message) }
        #expect(replies.map { $0["grpc-status"] } == [nil, nil, "14"])
        #expect(server.metrics.snapshot.limits == ["handlers_per_address": 1])
        let others = (0..<2).map { RawClient(server, from: "192.0.2.\(2 + $0)") }
        #expect(try others.map { try $0.call(body: message)["grpc-status"] } == [nil, "14"])
        #expect(server.metrics.snapshot.limits == ["handlers_per_address": 1, "handlers": 1])
        #expect(server.metrics.snapshot.handlers == 3)
    }

    @Test func addressesOfOneIPv6NetworkHaveOneShare() throws {
        var limits = RPCLimits.small
        limits.maxHandlersPerAddress = 1
        let server = server(MethodRules(), limits)
        let clients = ["2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"].map { RawClient(server, from: $0) }
        #expect(try clients.map { try $0.call(body: message)["grpc-status"] } == [nil, "14", nil])
    }

    @Test func waitingCallsTakeNoHandlers() throws {
        var limits = RPCLimits.small
        limits.maxHandlers = 1
        (limits.waiting.perConnection, limits.waiting.perAddress, limits.waiting.perListener) = (2, 3, 4)
        let server = server(MethodRules(waits: true), limits)
        let first = RawClient(server)
        #expect(try (0..<3).map { _ in try first.call(body: message)["grpc-status"] } == [nil, nil, "14"])
        let second = RawClient(server)
        #expect(try (0..<2).map { _ in try second.call(body: message)["grpc-status"] } == [nil, "14"])
        let other = RawClient(server, from: "192.0.2.2")
        #expect(try (0..<2).map { _ in try other.call(body: message)["grpc-status"] } == [nil, "14"])
        #expect(
            server.metrics.snapshot.limits == [
                "waiting_calls_per_connection": 1, "waiting_calls_per_address": 1, "waiting_calls": 1,
            ])
        #expect(server.metrics.snapshot.handlers == 0)
        #expect(server.metrics.snapshot.waitingCalls == 4)
    }

    @Test func aShareIsForgottenWithItsLastHolder() {
        let shares = AddressShares()
        func take(_ share: AddressShare) -> Bool { share.handlers.take(limit: 1) }
        let share = shares.share(of: "192.0.2.1")
        #expect(take(share))
        #expect(!take(shares.share(of: "192.0.2.1")))
        withExtendedLifetime(share) {}
        #expect(take(shares.share(of: "192.0.2.2")))
        // No caller keeps this one beyond the line.
        #expect(take(shares.share(of: "192.0.2.2")))
    }
}
