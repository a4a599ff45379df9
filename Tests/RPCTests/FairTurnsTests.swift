import Basics
import HTTPTypes
import Proto
import TestSupport
import Testing
import Wire

@testable import RPC

/// The waits of callers while others flood the same loop, by the order of the work and not by time.
@Suite(.timeLimited) struct FairTurnsTests {
    private static let method = MethodDescriptor(service: "test.Service", name: "Echo", kind: .unary)
    /// The time that each step of a handler takes, in nanoseconds.
    private static let cost: UInt64 = 100_000
    /// The number of steps of others that may be run before a step that can be run: those of a slice.
    private static let most = Int(CallTurns.slice / cost) + 1

    /// The tokens `ORGANIZATION/USER` are valid; without a token a caller stays unknown.
    private struct Tokens: Admission {
        let work: Work

        func admit(_ context: CallContext) async throws(RPCError) {
            let token = context.metadata["authorization"]
            work.step("admit \(token ?? "stranger from \(context.peer.host)")")
            guard let token else { return }
            let parts = token.split(separator: "/")
            guard parts.count == 2, let organization = Int64(parts[0]) else {
                throw RPCError(bare: .unauthenticated, "not a token")
            }
            context.workOwner = .apiKey(String(parts[1]), of: organization)
        }
    }

    /// The steps of handlers and admissions, which take a loop's time. Used by the test's thread only.
    private final class Work: @unchecked Sendable {  // used by one thread
        let loop = StillLoop()
        private(set) var steps: [String] = []
        private var waiting: UnsafeContinuation<Void, Never>?

        func step(_ name: String) {
            steps.append(name)
            loop.now += cost
        }

        func handle(_ request: HealthCheckRequest) async -> HealthCheckRequest {
            step(request.service)
            if request.service == "other" {
                for hop in 1...5 {
                    await withUnsafeContinuation { waiting = $0 }
                    step("other \(hop)")
                }
            }
            return request
        }

        /// Lets the other caller's handler continue, like the database's writer.
        ///
        /// - Returns: whether it waited.
        @discardableResult
        func resume() -> Bool {
            let waiting = waiting.take()
            waiting?.resume()
            return waiting != nil
        }
    }

    /// A server on a loop whose time is what its handlers take. Used by the test's thread only.
    private final class Scene {
        private let work = Work()
        private let server: RPCServer
        private var connections: [ServerConnection] = []

        init() {
            var router = Router()
            router.add(method) { [work] (request: HealthCheckRequest, _) in await work.handle(request) }
            let proxies = TrustedProxies(["10.0.0.0/8"].compactMap(AddressRange.init))
            server = RPCServer(router: router, interceptors: [proxies, Tokens(work: work)])
            loop.hold()
        }

        /// Ends the calls in progress, whose tasks would keep everything.
        deinit {
            for connection in connections { connection.connectionLost(nil) }
            while work.resume() || loop.turns.hasWork { loop.runTurn() }
            loop.stop()
        }

        var loop: StillLoop { work.loop }
        var steps: [String] { work.steps }

        func resume() { work.resume() }

        func client(from host: String = "192.0.2.1") -> RawClient {
            let client = RawClient(server, from: host, on: loop)
            connections.append(client.connection)
            return client
        }

        /// The loop's other half: passes on what a client has sent, as a socket does.
        func deliver(_ bytes: [UInt8], to client: RawClient) throws {
            loop.turns.begin(until: loop.now + CallTurns.budget)
            let connection = client.connection
            var reception = try bytes.withUnsafeBytes { try connection.receive($0) }
            func goOn() {
                connection.lane.perform {
                    reception = (try? connection.continueReceiving()) ?? .complete
                    if reception == .turnIsOver { goOn() }
                }
            }
            connection.onSpace = goOn
            if reception == .turnIsOver { goOn() }
        }

        /// Runs turns until the handler of the other caller has taken the step.
        ///
        /// - Returns: the number of steps of the flood meanwhile.
        func stepsOfFlood(before name: String, from start: Int, admissions: Set<String>) -> Int? {
            for _ in 0..<1000 {
                if let index = steps[start...].firstIndex(of: name) {
                    return steps[start..<index].count { $0 == "flood" || admissions.contains($0) }
                }
                loop.runTurn()
            }
            return nil
        }
    }

    private func frame(_ text: String) -> [UInt8] {
        var frame = HealthCheckRequest(service: text).encoded(reserving: MessagePrefix.byteCount)
        MessagePrefix.write(to: &frame)
        return frame
    }

    /// Floods the loop, and has another caller call, whose handler waits several times.
    private func expectOtherWaitsForASliceOnly(
        flood: [(host: String, token: String?, calls: Int)], host: String, token: String?
    ) throws {
        let scene = Scene()
        let clients = flood.map { scene.client(from: $0.host) }
        for (client, sender) in zip(clients, flood) {
            let name = sender.calls == 1 ? "neighbor" : "flood"
            try scene.deliver(
                client.bytes(of: sender.calls, authorization: sender.token, body: frame(name)), to: client)
        }
        let admissions = Set(
            flood.filter { $0.calls > 1 }.map { "admit \($0.token ?? "stranger from \($0.host)")" })
        for _ in 0..<3 { scene.loop.runTurn() }
        let other = scene.client(from: host)
        var start = scene.steps.count
        try scene.deliver(other.bytes(of: 1, authorization: token, body: frame("other")), to: other)
        // Its admission, and the call itself.
        let first = try #require(scene.stepsOfFlood(before: "other", from: start, admissions: admissions))
        #expect(first <= 2 * Self.most + 1)
        for hop in 1...5 {
            scene.loop.runTurn()
            start = scene.steps.count
            scene.resume()
            let others = try #require(
                scene.stepsOfFlood(before: "other \(hop)", from: start, admissions: admissions))
            #expect(others <= Self.most, "hop \(hop)")
        }
        // The flood was at work all the time.
        #expect(scene.steps.count { $0 == "flood" || admissions.contains($0) } > 20)
        withExtendedLifetime((clients, other)) {}
    }

    @Test func oneAddressWithManyCalls() throws {
        try expectOtherWaitsForASliceOnly(
            flood: (0..<20).map { _ in ("192.0.2.9", "1/viewer", 256) }, host: "192.0.2.1", token: "2/robot")
    }

    @Test func aThousandConnectionsOfOneCaller() throws {
        try expectOtherWaitsForASliceOnly(
            flood: (0..<1000).map { _ in ("192.0.2.9", "1/viewer", 2) }, host: "192.0.2.1", token: "2/robot")
    }

    @Test func sixtyFourAddresses() throws {
        try expectOtherWaitsForASliceOnly(
            flood: (0..<64).map { ("192.0.2.\($0 + 100)", "1/viewer", 64) }, host: "192.0.2.1", token: "2/robot")
    }

    @Test(arguments: ["1/robot", "2/robot"]) func behindOneAddressWithTwoHundredDevices(token: String) throws {
        let devices = (0..<200).map {
            (host: "192.0.2.1", token: "\(token.prefix(2))device-\($0)" as String?, calls: 1)
        }
        try expectOtherWaitsForASliceOnly(
            flood: devices + (0..<20).map { _ in ("192.0.2.1", "1/viewer", 256) }, host: "192.0.2.1", token: token)
    }

    /// Neither the flood nor the other caller has a token, for example before a sign-in.
    @Test func strangersAtOneAddress() throws {
        try expectOtherWaitsForASliceOnly(
            flood: (0..<20).map { _ in ("192.0.2.9", nil, 256) }, host: "192.0.2.1", token: nil)
    }

    @Test func strangersWithFalseTokensDelayNobodyWhoIsKnown() throws {
        try expectOtherWaitsForASliceOnly(
            flood: (0..<20).map { _ in ("192.0.2.9", "false", 256) } + [("192.0.2.9", "1/viewer", 100)],
            host: "192.0.2.1", token: "2/robot")
    }

    /// A proxy may send the calls of all its clients on one connection.
    @Test func otherClientOfOneProxy() throws {
        let scene = Scene()
        let proxy = scene.client(from: "10.0.0.1")
        let flood = try proxy.bytes(of: 90, authorization: "1/viewer", body: frame("flood"), for: "192.0.2.9")
        let call = try proxy.bytes(of: 1, authorization: "2/robot", body: frame("other"), for: "192.0.2.1")
        try scene.deliver(flood + call, to: proxy)
        let lane = proxy.connection.lane
        let before = try #require(
            scene.stepsOfFlood(before: "other", from: 0, admissions: ["admit 1/viewer"]))
        #expect(before <= 2 * Self.most + 1)
        while scene.loop.turns.hasWork, scene.steps.count < 300 { scene.loop.runTurn() }
        #expect(scene.steps.count { $0 == "flood" } > 20)
        // What it sends and receives is not in the turn of one of its clients.
        #expect(proxy.connection.lane === lane)
    }

    @Test func aConnectionWithManyQueuedCallsReceivesNoMore() throws {
        let scene = Scene()
        let client = scene.client()
        let bytes = try client.bytes(of: 100, authorization: "1/viewer", body: frame("flood"))
        let connection = client.connection
        scene.loop.turns.begin(until: .max)
        #expect(try bytes.withUnsafeBytes { try connection.receive($0) } == .queueIsFull)
        #expect((64..<80).contains(connection.origin.queuedCalls))
        // It continues when few are left.
        var hasSpace = false
        connection.onSpace = { hasSpace = true }
        while !hasSpace { scene.loop.runTurn() }
        #expect(connection.origin.queuedCalls <= 16)
        scene.loop.turns.begin(until: .max)
        #expect(try connection.continueReceiving() == .complete)
        #expect(connection.origin.queuedCalls > 16)
    }

    @Test func aLostConnectionIsNotAskedToReceive() throws {
        let scene = Scene()
        let client = scene.client()
        let connection = client.connection
        scene.loop.turns.begin(until: .max)
        let bytes = try client.bytes(of: 200, authorization: "1/viewer", body: frame("flood"))
        #expect(try bytes.withUnsafeBytes { try connection.receive($0) } == .queueIsFull)
        connection.onSpace = { Issue.record("the socket of a lost connection was asked for more") }
        connection.connectionLost(nil)
        while scene.loop.turns.hasWork { scene.loop.runTurn() }
        #expect(connection.origin.queuedCalls == 0)
    }

    @Test func receivingEndsWithTheTurn() throws {
        let scene = Scene()
        let client = scene.client()
        let bytes = try client.bytes(of: 60, authorization: "1/viewer", body: frame("flood"))
        scene.loop.turns.begin(until: scene.loop.now)
        #expect(try bytes.withUnsafeBytes { try client.connection.receive($0) } == .turnIsOver)
        #expect(client.connection.origin.queuedCalls <= 8)
        scene.loop.turns.begin(until: .max)
        #expect(try client.connection.continueReceiving() == .complete)
        #expect(client.connection.origin.queuedCalls == 60)
    }

    @Test func aHeaderSectionOnlyQueuesItsCall() throws {
        let scene = Scene()
        let client = scene.client()
        try scene.deliver(client.bytes(of: 20, authorization: "1/viewer", body: frame("flood")), to: client)
        #expect(scene.steps.isEmpty)
        scene.loop.runTurn()
        #expect(scene.steps.first == "admit 1/viewer")
    }

    @Test func aTurnEndsAfterItsBudget() throws {
        let scene = Scene()
        let clients = (0..<4).map { _ in scene.client() }
        for client in clients {
            try scene.deliver(client.bytes(of: 50, authorization: "1/viewer", body: frame("flood")), to: client)
        }
        let start = scene.loop.now
        scene.loop.runTurn()
        // A step that has begun is completed.
        #expect(scene.loop.now - start <= CallTurns.budget + 2 * Self.cost)
        #expect(scene.loop.turns.hasWork)
    }

    /// A caller whose token was accepted before is admitted in its own turn, and needs no other one for its call.
    @Test func nextCallsOfAKnownCallerRunInOneStep() throws {
        let scene = Scene()
        let client = scene.client()
        for _ in 0..<2 {
            try scene.deliver(client.bytes(of: 1, authorization: "1/viewer", body: frame("call")), to: client)
            scene.loop.runTurn()
        }
        let strangers = client.connection.origin.lane
        try scene.deliver(client.bytes(of: 1, authorization: "1/viewer", body: frame("call")), to: client)
        #expect(client.connection.origin.lane === strangers)
        scene.loop.runTurn()
        #expect(scene.steps == (0..<3).flatMap { _ in ["admit 1/viewer", "call"] })
    }
}
