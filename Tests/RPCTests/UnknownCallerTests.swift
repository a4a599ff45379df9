import HTTPTypes
import Proto
import TestSupport
import Testing
import Wire

@testable import RPC

/// The cost of callers before they are admitted, and the places that they take.
@Suite(.timeLimited) struct UnknownCallerTests {
    private static let method = MethodDescriptor(service: "test.Service", name: "Echo", kind: .unary)

    /// Admits the callers with a token.
    private struct Tokens: Admission {
        func admit(_ context: CallContext) async throws(RPCError) {
            guard context.metadata["authorization"] != nil else { throw RPCError(bare: .unauthenticated, "no token") }
        }
    }

    /// - Parameter web: the support of clients that do not use gRPC; `nil` = none.
    private static func makeServer(places: Int = 100, web: WebProtocols? = nil) -> RPCServer {
        var router = Router()
        router.add(method) { (request: HealthCheckRequest, _) -> HealthCheckRequest in request }
        var limits = RPCLimits()
        limits.maxHandlers = places
        return RPCServer(router: router, interceptors: [Tokens()], limits: limits, web: web)
    }

    private let token = [("authorization", "Bearer token")]

    private static func frame(_ message: [UInt8], isCompressed: Bool = false) -> [UInt8] {
        var frame = [UInt8](repeating: 0, count: MessagePrefix.byteCount) + message
        MessagePrefix.write(to: &frame)
        if isCompressed { frame[0] = 1 }
        return frame
    }

    /// A message that cannot be decompressed, and a large one that cannot be decoded, each with its fields.
    private static let faulty: [(fields: [(String, String)], body: [UInt8])] = [
        ([("grpc-encoding", "gzip")], frame([1, 2, 3], isCompressed: true)),
        ([], frame([UInt8](repeating: 0xFF, count: 5000))),
    ]

    @Test(arguments: faulty.indices) func costlyMessageIsDecodedAfterTheCallerIsKnown(index: Int) throws {
        let (fields, body) = Self.faulty[index]
        let client = RawClient(Self.makeServer())
        #expect(try client.call(adding: fields, body: body)["grpc-status"] == "16")
        #expect(try client.call(adding: fields + token, body: body)["grpc-status"] == "3")
    }

    @Test(arguments: faulty.indices) func costlyMessageIsDecodedInTheTurnOfItsCall(index: Int) throws {
        let (fields, body) = Self.faulty[index]
        let client = RawClient(Self.makeServer())
        // The call is admitted, and then receives its message.
        let stream = client.begin(adding: fields + token, body: [], isWhole: false)
        try client.exchange()
        client.loop.hold()
        stream.write(body)
        try client.exchange()
        #expect(stream["grpc-status"] == nil)
        client.loop.runTurn()
        try client.exchange()
        #expect(stream["grpc-status"] == "3")
    }

    /// Connect's unary requests are decoded as a whole at their end.
    @Test func bodyIsDecodedInTheTurnOfItsCallWhenItEndsLater() throws {
        let web = WebProtocols(json: JSONMapping(schema: try Schema(ProtoFiles.all)))
        let client = RawClient(Self.makeServer(web: web))
        let stream = client.begin(
            changing: ["content-type": "application/json", "te": nil], adding: token,
            body: Array("{\"service\": \"\(String(repeating: "a", count: 5000))".utf8), isWhole: false)
        try client.exchange()
        client.loop.hold()
        stream.finish()
        try client.exchange()
        #expect(stream[":status"] == nil)
        client.loop.runTurn()
        try client.exchange()
        #expect(stream[":status"] == "400")
    }

    @Test func requestThatWaitsToBeDecodedEndsSoonWhenTheServerStops() throws {
        let message = HealthCheckRequest(service: String(repeating: "name", count: 30_000)).encoded()
        let client = RawClient(Self.makeServer())
        let stream = client.begin(adding: token, body: [], isWhole: false)
        try client.exchange()
        client.loop.hold()
        stream.write(Self.frame(message))
        stream.finish()
        try client.send()
        #expect(client.connection.server.metrics.holdsRequests)
        #expect(stream["grpc-status"] == nil)
        client.connection.stop()
        client.loop.pass(2_000_000_000)
        try client.exchange()
        #expect(stream["grpc-status"] == "14")
        client.loop.runTurn()
        #expect(!client.connection.server.metrics.holdsRequests)
    }

    @Test func largeMessageArrivesWholeWhetherItIsSentAtOnceOrNot() throws {
        let message = HealthCheckRequest(service: String(repeating: "name", count: 30_000)).encoded()
        let body = Self.frame(message)
        let client = RawClient(Self.makeServer())
        #expect(try client.call(adding: token, body: body).body == body)
        let stream = client.begin(adding: token, body: [], isWhole: false)
        for start in stride(from: 0, to: body.count, by: 1000) {
            stream.write(Array(body[start..<min(start + 1000, body.count)]))
            try client.exchange()
        }
        stream.finish()
        try client.exchange()
        #expect(stream.body == body)
        #expect(stream["grpc-status"] == "0")
    }

    @Test func callsThatWaitForTheirTurnTakeNoPlaces() throws {
        let server = Self.makeServer(places: 1)
        let (stranger, client) = (RawClient(server), RawClient(server, from: "192.0.2.2"))
        let body = Self.frame(HealthCheckRequest(service: "name").encoded())
        stranger.loop.hold()
        let waiting = try (0..<3).map { _ in try stranger.call(body: body) }
        #expect(server.metrics.snapshot.handlers == 0)
        #expect(try client.call(adding: token, body: body)["grpc-status"] == "0")
        stranger.loop.runTurn()
        try stranger.exchange()
        #expect(waiting.map { $0["grpc-status"] } == ["16", "16", "16"])
        #expect(server.metrics.snapshot.limits.isEmpty)
    }
}
