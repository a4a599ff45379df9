import HTTPTypes
import Proto
import TestSupport
import Testing
import Wire

@testable import RPC

/// Refusals of calls without a place, by a test's clock.
@Suite(.timeLimited) struct RefusalPaceTests {
    private static let method = MethodDescriptor(service: "test.Service", name: "Echo", kind: .serverStreaming)
    /// An empty message.
    private static let message = [UInt8](repeating: 0, count: 5)

    /// Makes a server with a place for one call, which does not respond until it is aborted.
    private static func makeServer() -> RPCServer {
        var router = Router()
        router.add(method) {
            (_: HealthCheckRequest, _: ResponseWriter<HealthCheckResponse>, _: CallContext) in
            let (stream, _) = AsyncStream<Never>.makeStream()
            for await _ in stream {}
            throw CancellationError()
        }
        var limits = RPCLimits.small
        limits.maxHandlers = 1
        return RPCServer(router: router, limits: limits)
    }

    private let client = RawClient(makeServer())

    /// Makes calls at the same time, the first of which takes the place.
    private func calls(_ count: Int, adding fields: [(String, String)] = []) throws -> [RawClient.Stream] {
        let streams = (0..<count).map { _ in client.begin(adding: fields, body: Self.message) }
        try client.exchange()
        return streams
    }

    private func statuses(_ streams: [RawClient.Stream], after interval: UInt64 = 0) throws -> [String?] {
        client.loop.pass(interval)
        try client.exchange()
        return streams.map { $0["grpc-status"] }
    }

    @Test func callsOfAConnectionAreRefusedOneAfterTheOther() throws {
        let streams = try calls(4)
        #expect(try statuses(streams) == [nil, "14", nil, nil])
        #expect(try statuses(streams, after: RefusalPace.interval - 1) == [nil, "14", nil, nil])
        #expect(try statuses(streams, after: 1) == [nil, "14", "14", nil])
        #expect(try statuses(streams, after: RefusalPace.interval) == [nil, "14", "14", "14"])
        // The interval begins with the last refusal, and has passed here.
        client.loop.pass(RefusalPace.interval)
        #expect(try statuses(calls(1)) == ["14"])
    }

    @Test func otherConnectionDoesNotWaitForThem() throws {
        let streams = try calls(3)
        let other = RawClient(client.connection.server, on: client.loop)
        #expect(try other.call(body: Self.message)["grpc-status"] == "14")
        #expect(try statuses(streams) == [nil, "14", nil])
    }

    @Test func callThatWaitsToBeRefusedEndsAtItsDeadline() throws {
        let streams = try calls(4, adding: [("grpc-timeout", "1m")])
        #expect(try statuses(streams, after: 1_000_000) == ["4", "14", "4", "4"])
        // Ended ones do not hold up others.
        let later = try calls(2)
        #expect(try statuses(later, after: RefusalPace.interval) == [nil, "14"])
        #expect(client.connection.origin.queuedCalls == 0)
    }

    @Test func connectionReceivesNoMoreCallsWhileManyWait() throws {
        let bytes = try client.bytes(of: 100, authorization: nil, body: Self.message)
        let reception = try bytes.withUnsafeBytes { try client.connection.receive($0) }
        #expect(reception == .queueIsFull)
        #expect(client.connection.origin.queuedCalls >= 64)
        client.loop.pass(200 * RefusalPace.interval)
        #expect(client.connection.origin.queuedCalls <= 16)
    }

    @Test func callsOfALostConnectionReleaseWhatTheyHold() throws {
        let origin = client.connection.origin
        _ = try calls(5)
        #expect(origin.queuedCalls == 3 && origin.handlers == 4)
        client.connection.connectionLost(nil)
        #expect(origin.queuedCalls == 0 && origin.handlers == 0)
        #expect(client.connection.server.metrics.snapshot.handlers == 0)
    }
}
