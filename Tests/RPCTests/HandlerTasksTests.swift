import Proto
import RPC
import TestSupport
import Testing
import Wire

/// Calls share tasks, and must not see each other's state in them.
@Suite(.timeLimited) struct HandlerTasksTests {
    private static let method = MethodDescriptor(service: "test.Service", name: "Echo", kind: .unary)

    /// Handlers that wait until they are released, by the name in their request. Used by the test's thread only.
    private final class Gate: @unchecked Sendable {
        private var waiting: [String: UnsafeContinuation<Void, Never>] = [:]

        func pass(_ name: String) async {
            await withUnsafeContinuation { waiting[name] = $0 }
        }

        func open(_ name: String) { waiting.removeValue(forKey: name)?.resume() }
    }

    /// Responds whether its task is cancelled.
    private func router(_ gate: Gate) -> Router {
        var router = Router()
        router.add(Self.method) { (request: HealthCheckRequest, _) in
            if request.service.hasPrefix("wait") { await gate.pass(request.service) }
            return HealthCheckRequest(service: "\(Task.isCancelled)")
        }
        return router
    }

    private func frame(_ text: String) -> [UInt8] {
        var frame = HealthCheckRequest(service: text).encoded(reserving: MessagePrefix.byteCount)
        MessagePrefix.write(to: &frame)
        return frame
    }

    @Test func waitingHandlerHoldsUpNoOther() throws {
        let gate = Gate()
        let client = RawClient(router(gate))
        let waiting = try (0..<3).map { try client.call(body: frame("wait \($0)")) }
        #expect(try client.call(body: frame("next")).body == frame("false"))
        #expect(waiting.allSatisfy { $0.body.isEmpty })
        for index in [1, 0, 2] {
            gate.open("wait \(index)")
            try client.exchange()
            #expect(waiting[index]["grpc-status"] == "0")
        }
    }

    @Test func aCancelledCallCancelsNoOther() throws {
        let gate = Gate()
        let client = RawClient(router(gate))
        let cancelled = try client.call(body: frame("wait"))
        cancelled.reset(.cancel)
        try client.exchange()
        gate.open("wait")
        for _ in 0..<3 { #expect(try client.call(body: frame("next")).body == frame("false")) }
    }

    @Test func aFailedCallCancelsNoOther() throws {
        var router = router(Gate())
        router.add(MethodDescriptor(service: "test.Service", name: "Fail", kind: .unary)) {
            (_: HealthCheckRequest, _) -> HealthCheckRequest in throw RPCError(bare: .aborted, "no")
        }
        let client = RawClient(router)
        for _ in 0..<3 {
            #expect(try client.call(changing: [":path": "/test.Service/Fail"], body: frame("")).body.isEmpty)
            #expect(try client.call(body: frame("next")).body == frame("false"))
        }
    }

    /// The number of simultaneous waiting calls exceeds the number of tasks that are kept.
    @Test func asManyTasksAsHandlersThatWait() throws {
        let gate = Gate()
        let client = RawClient(router(gate))
        let waiting = try (0..<200).map { try client.call(body: frame("wait \($0)")) }
        for index in waiting.indices { gate.open("wait \(index)") }
        try client.exchange()
        #expect(waiting.allSatisfy { $0["grpc-status"] == "0" })
        #expect(try client.call(body: frame("next"))["grpc-status"] == "0")
    }
}
