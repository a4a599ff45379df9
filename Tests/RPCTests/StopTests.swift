import HTTPTypes
import Proto
import TestSupport
import Testing
import Wire

@testable import RPC

/// The end of calls when the server stops, by a test's clock.
@Suite(.timeLimited) struct StopTests {
    private static let second: UInt64 = 1_000_000_000
    private static let method = MethodDescriptor(service: "test.Service", name: "Echo", kind: .unary)

    /// A server whose handlers wait, by the test's thread only.
    private final class Scene: @unchecked Sendable {  // used by one thread
        private(set) var begun = 0
        private var waiting: [UnsafeContinuation<Void, Never>] = []
        private(set) lazy var client = RawClient(makeServer())

        private func makeServer() -> RPCServer {
            var router = Router()
            router.add(StopTests.method) { [unowned self] (request: HealthCheckRequest, _) -> HealthCheckRequest in
                begun += 1
                await withUnsafeContinuation { waiting.append($0) }
                return request
            }
            return RPCServer(router: router, limits: .small)
        }

        /// Lets the handlers that wait return.
        func resume() {
            let continuations = waiting
            waiting = []
            for continuation in continuations { continuation.resume() }
        }
    }

    private let scene = Scene()
    private var client: RawClient { scene.client }

    private var frame: [UInt8] {
        var frame = HealthCheckRequest(service: "name").encoded(reserving: MessagePrefix.byteCount)
        MessagePrefix.write(to: &frame)
        return frame
    }

    @Test func callAtWorkIsWaitedFor() throws {
        let stream = try client.call(body: frame)
        client.connection.stop()
        client.loop.pass(15 * Self.second)
        try client.exchange()
        #expect(stream["grpc-status"] == nil && !client.connection.isFinished)
        scene.resume()
        try client.exchange()
        #expect(stream["grpc-status"] == "0" && client.connection.isFinished)
    }

    @Test func callThatHasNotBegunIsServed() throws {
        client.loop.hold()
        let stream = try client.call(body: frame)
        client.connection.stop()
        try client.exchange()
        #expect(stream["grpc-status"] == nil && scene.begun == 0)
        client.loop.runTurn()
        #expect(scene.begun == 1)
        scene.resume()
        client.loop.runTurn()
        try client.exchange()
        #expect(stream["grpc-status"] == "0" && client.connection.isFinished)
    }

    @Test func callThatDoesNotBeginEndsAfterTwoSeconds() throws {
        var streams: [RawClient.Stream] = []
        client.loop.hold()
        for _ in 0..<3 { streams.append(try client.call(body: frame)) }
        client.connection.stop()
        for _ in 0..<7 { client.loop.pass(Self.second / 4) }
        try client.exchange()
        #expect(streams.allSatisfy { $0["grpc-status"] == nil })
        client.loop.pass(Self.second / 4)
        try client.exchange()
        #expect(streams.map { $0["grpc-status"] } == ["14", "14", "14"])
        client.loop.runTurn()
        #expect(scene.begun == 0)
    }

    @Test func requestThatDoesNotArriveEndsWithinTwoSeconds() throws {
        let stream = try client.call(body: Array(frame.prefix(3)), isWhole: false)
        client.connection.stop()
        try client.exchange()
        #expect(stream["grpc-status"] == nil)
        client.loop.pass(2 * Self.second)
        try client.exchange()
        #expect(stream["grpc-status"] == "14")
        #expect(client.connection.isFinished)
    }

    @Test func clientThatDoesNotAnswerThePingCannotContinue() throws {
        _ = try client.call(body: frame)
        client.connection.stop()
        for _ in 0..<8 {
            client.loop.pass(Self.second / 4)
            _ = client.begin(body: frame)
            try client.send()
            scene.resume()
            while try client.connection.nextOutput() != nil {}
        }
        #expect((2...5).contains(scene.begun))
        #expect(client.connection.isFinished)
    }
}
