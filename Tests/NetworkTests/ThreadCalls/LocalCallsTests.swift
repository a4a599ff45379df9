import Basics
import Dispatch
import EventLoops
import HTTPTypes
import Proto
import RPC
import Synchronization
import TestSupport
import Testing
import ThreadCalls
import Wire

@Suite(.timeLimited) struct LocalCallsTests {
    /// Refuses calls with `x-refused`, and records the results of calls.
    private final class Ends: Admission {
        private let statuses = Lock<[StatusCode]>([])
        private let ended = DispatchSemaphore(value: 0)

        func admit(_ context: CallContext) async throws(RPCError) {
            if context.metadata["x-refused"] != nil { throw .permissionDenied("refused") }
        }

        func finished(_ context: CallContext, status: StatusCode, error: RPCError?) {
            statuses.withLock { $0.append(status) }
            ended.signal()
        }

        /// Waits until a call has ended, and returns its status.
        func next() throws -> StatusCode {
            try ended.waitForSignal()
            return statuses.withLock { $0.removeFirst() }
        }
    }

    private static let peer = MethodDescriptor(service: "test.Service", name: "Peer", kind: .unary)
    private static let fail = MethodDescriptor(service: "test.Service", name: "Fail", kind: .unary)
    private static let count = MethodDescriptor(service: "test.Service", name: "Count", kind: .serverStreaming)
    private static let pour = MethodDescriptor(service: "test.Service", name: "Pour", kind: .serverStreaming)

    private let ends = Ends()
    private let padding = String(repeating: "a", count: 400_000)

    private func withCalls(_ body: (LocalCalls) throws -> Void) throws {
        var router = Router()
        router.add(Self.peer) { (request: HealthCheckRequest, context) in
            HealthCheckRequest(service: "\(context.peer.host) \(context.requestID) \(context.mayWait)")
        }
        router.add(Self.fail) { (_: HealthCheckRequest, _) -> HealthCheckRequest in
            throw RPCError(bare: .aborted, "no", retryAfterMilliseconds: 7)
        }
        router.add(Self.count) { [padding] (_: HealthCheckRequest, responses, _: CallContext) in
            for number in 0..<10 { try await responses.write(HealthCheckRequest(service: "\(number) \(padding)")) }
            throw RPCError(bare: .dataLoss, "the end")
        }
        router.add(Self.pour) { (request: HealthCheckRequest, responses: ResponseWriter<HealthCheckRequest>, _) in
            while true { try await responses.write(request) }
        }
        var limits = RPCLimits()
        limits.maxMessageSize = 1000
        let loop = EventLoop(name: "loop")
        defer { loop.stop() }
        try body(
            LocalCalls(
                server: RPCServer(router: router, interceptors: [ends], limits: limits), loops: [loop])
        )
    }

    private func caller(_ fields: [(name: String, value: String)] = []) -> LocalCalls.Caller {
        LocalCalls.Caller(peer: "192.0.2.1", fields: fields, socket: -1)
    }

    private func unary(
        _ calls: LocalCalls, _ method: MethodDescriptor, _ text: String = "",
        _ fields: [(name: String, value: String)] = []
    ) throws -> HealthCheckRequest {
        try calls.unary(method, HealthCheckRequest(service: text), for: caller(fields))
    }

    @Test func callIsMadeInTheNameOfItsCaller() throws {
        try withCalls { calls in
            let reply = try unary(calls, Self.peer, "", [("x-request-id", "one")])
            #expect(reply.service == "192.0.2.1 one false")
            #expect(try ends.next() == .ok)
        }
    }

    @Test func errorsComeAsTheyAre() throws {
        try withCalls { (calls) throws in
            let expected = RPCError(bare: .aborted, "no", retryAfterMilliseconds: 7)
            #expect(throws: expected) { try unary(calls, Self.fail) }
            #expect(try ends.next() == .aborted)
            #expect(throws: RPCError.permissionDenied("refused")) {
                try unary(calls, Self.peer, "", [("x-refused", "1")])
            }
            #expect(try ends.next() == .permissionDenied)
            let unknown = MethodDescriptor(service: "test.Service", name: "Nothing", kind: .unary)
            #expect(throws: RPCError.unimplemented("this listener has no method /test.Service/Nothing")) {
                try unary(calls, unknown)
            }
        }
    }

    @Test func messageOverTheLimitIsRefused() throws {
        try withCalls { (calls) throws in
            #expect(throws: RPCError.self) { try unary(calls, Self.peer, padding) }
            #expect(try ends.next() == .resourceExhausted)
        }
    }

    @Test func messagesOfAStreamComeInOrderBeforeItsError() throws {
        try withCalls { calls in
            let call = try calls.call(Self.count, HealthCheckRequest(), for: caller())
            for number in 0..<10 {
                let bytes = try #require(try call.next())
                #expect(try HealthCheckRequest(decoding: bytes).service == "\(number) \(padding)")
            }
            #expect(throws: RPCError(bare: .dataLoss, "the end")) { try call.next() }
            call.close()
        }
    }

    @Test func callThatIsClosedIsCancelled() throws {
        try withCalls { calls in
            let call = try calls.call(Self.pour, HealthCheckRequest(service: "on and on"), for: caller())
            let first = try call.next()
            #expect(first != nil)
            call.close()
            #expect(try ends.next() == .cancelled)
        }
    }
}
