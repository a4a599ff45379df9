import EventLoops
import GatewayFormats
import HTTPTypes
import Proto
import RPC
import TestSupport
import Testing
import Wire

/// Runs `body` with a server of `router` on two loops and a free port, and a channel to it.
private func withServer(
    interceptors: [any Interceptor] = [], _ build: (inout Router) -> Void,
    _ body: (RPCChannel) async throws -> Void
) async throws {
    var router = Router()
    build(&router)
    let loops = [EventLoop(name: "one"), EventLoop(name: "two")]
    let server = RPCServer(router: router, interceptors: interceptors)
    let listener = try RPCListener(PeerAddress(host: "127.0.0.1", port: 0), server: server, loops: loops)
    let channel = try await RPCChannel.connect(to: listener.address, loop: loops[0])
    do {
        try await body(channel)
    } catch {
        Issue.record(error)
    }
    channel.close()
    await listener.stop(limit: .seconds(10))
    for loop in loops { loop.stop() }
}

/// An echo method of each call kind, with the messages of the health service.
private let echo = (
    unary: MethodDescriptor(service: "test.Echo", name: "Unary", kind: .unary),
    download: MethodDescriptor(service: "test.Echo", name: "Download", kind: .serverStreaming),
    failing: MethodDescriptor(service: "test.Echo", name: "Failing", kind: .unary),
    waiting: MethodDescriptor(service: "test.Echo", name: "Waiting", kind: .unary)
)

@Suite(.timeLimited) struct RPCServerTests {
    @Test func healthAnswersByName() async throws {
        let health = HealthService(services: ["archebase.auth.v1.AuthService"], state: ServingState())
        try await withServer({ health.register(in: &$0) }) { channel in
            let client = HealthClient(channel)
            let whole = try await client.check(HealthCheckRequest())
            #expect(whole.status == .serving)
            let list = try await client.list(HealthListRequest())
            #expect(list.statuses.count == 3)
            let error = await #expect(throws: GRPCStatus.self) {
                try await client.check(HealthCheckRequest(service: "nobody"))
            }
            #expect(error?.code == .notFound)
        }
    }

    @Test func watchSeesTheDrain() async throws {
        let state = ServingState()
        let health = HealthService(services: [], state: state)
        try await withServer({ health.register(in: &$0) }) { channel in
            let client = HealthClient(channel)
            let seen = Seen()
            await #expect(throws: (any Error).self) {
                try await client.watch(HealthCheckRequest()) { response in
                    seen.append(response.status)
                    guard response.status == .serving else { throw CancellationError() }
                    state.stopServing()
                }
            }
            #expect(seen.all == [.serving, .notServing])
        }
    }

    @Test func manyCallsAtOnce() async throws {
        try await withServer({ router in
            router.add(echo.unary) { (request: HealthCheckRequest, _) in request }
        }) { channel in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<500 {
                    group.addTask {
                        let request = HealthCheckRequest(service: String(repeating: "\(number) ", count: number))
                        let reply: HealthCheckRequest = try await channel.unary(
                            echo.unary, request, options: CallOptions())
                        #expect(reply == request)
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    /// Messages larger than a flow-control window, a socket's buffer and a frame, in both directions.
    @Test func largeMessagesPassBothWays() async throws {
        try await withServer({ router in
            router.add(echo.unary) { (request: HealthCheckRequest, _) in request }
            router.add(echo.download) { (request: HealthCheckRequest, responses, _) in
                for _ in 0..<50 { try await responses.write(request) }
            }
        }) { channel in
            let request = HealthCheckRequest(service: String(repeating: "0123456789abcdef", count: 200_000))
            let reply: HealthCheckRequest = try await channel.unary(echo.unary, request, options: CallOptions())
            #expect(reply == request)
            let seen = Seen()
            try await channel.serverStreaming(echo.download, request, options: CallOptions()) {
                (reply: HealthCheckRequest) in
                seen.append(reply == request ? .serving : .notServing)
            }
            #expect(seen.all == Array(repeating: .serving, count: 50))
        }
    }

    @Test func errorsTravelWithTheirDetail() async throws {
        try await withServer({ router in
            router.add(echo.failing) { (request: HealthCheckRequest, _) -> HealthCheckResponse in
                throw RPCError(.deviceNotFound, "no device “\(request.service)” 100%")
            }
        }) { channel in
            let error = await #expect(throws: GRPCStatus.self) {
                let _: HealthCheckResponse = try await channel.unary(
                    echo.failing, HealthCheckRequest(service: "260427-000001"), options: CallOptions())
            }
            let status = try #require(error)
            #expect(status.code == .notFound)
            #expect(status.message == "no device “260427-000001” 100%")
            let detail = try ErrorDetail(decoding: try #require(status.details))
            #expect(detail.code == "DATA_GATEWAY_DEVICE_NOT_FOUND")
        }
    }

    @Test func deadlineEndsTheHandler() async throws {
        let cancelled = Seen()
        try await withServer({ router in
            router.add(echo.waiting) { (_: HealthCheckRequest, _) -> HealthCheckResponse in
                do {
                    try await Task.sleep(for: .seconds(3600))
                } catch {
                    cancelled.append(.serving)
                    throw error
                }
                return HealthCheckResponse()
            }
        }) { channel in
            let error = await #expect(throws: GRPCStatus.self) {
                let _: HealthCheckResponse = try await channel.unary(
                    echo.waiting, HealthCheckRequest(), options: CallOptions(timeout: .seconds(2)))
            }
            #expect(error?.code == .deadlineExceeded)
        }
        #expect(cancelled.all.count == 1)
    }

    @Test func admissionRefusesBeforeTheHandler() async throws {
        struct Refusal: Admission {
            func admit(_ context: CallContext) async throws(RPCError) {
                throw RPCError(.unauthenticated, "no token for \(context.method.name) from \(context.peer.host)")
            }
        }
        try await withServer(
            interceptors: [Refusal()],
            { router in
                router.add(echo.unary) { (request: HealthCheckRequest, _) in
                    Issue.record("the handler ran")
                    return request
                }
            }
        ) { channel in
            let error = await #expect(throws: GRPCStatus.self) {
                let _: HealthCheckRequest = try await channel.unary(
                    echo.unary, HealthCheckRequest(), options: CallOptions())
            }
            #expect(error?.message == "no token for Unary from 127.0.0.1")
        }
    }

    @Test func unknownMethodAndMessageOverTheLimit() async throws {
        try await withServer({ router in
            router.add(echo.unary) { (request: HealthCheckRequest, _) in request }
        }) { channel in
            let unknown = await #expect(throws: GRPCStatus.self) {
                let _: HealthCheckRequest = try await channel.unary(
                    echo.download, HealthCheckRequest(), options: CallOptions())
            }
            #expect(unknown?.code == .unimplemented)
            let large = HealthCheckRequest(service: String(repeating: "x", count: 4 << 20))
            let over = await #expect(throws: GRPCStatus.self) {
                let _: HealthCheckRequest = try await channel.unary(echo.unary, large, options: CallOptions())
            }
            #expect(over?.code == .resourceExhausted)
        }
    }
}
