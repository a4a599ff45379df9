import Basics
package import CommonProto
package import GRPCWire
import Synchronization

/// The gRPC service `grpc.health.v1.Health` of one listener.
package struct HealthService: HealthHandler {
    package typealias Context = CallContext

    /// The names with a status; the empty name is the whole server.
    private let services: Set<String>
    private let state: ServingState

    /// - Parameter services: the full names of the listener's services.
    package init(services: [String], state: ServingState) {
        self.services = Set(services).union(["", HealthMethods.service])
        self.state = state
    }

    package func check(_ request: HealthCheckRequest, context: CallContext) async throws -> HealthCheckResponse {
        guard services.contains(request.service) else {
            throw RPCError.notFound("this listener does not serve \(request.service.prefix(200))")
        }
        return response(state.isServing)
    }

    package func list(_ request: HealthListRequest, context: CallContext) async throws -> HealthListResponse {
        let status = response(state.isServing)
        return HealthListResponse(statuses: Dictionary(uniqueKeysWithValues: services.map { ($0, status) }))
    }

    /// Sends the status and each change. For an unknown name the stream stays open, as the specification requires, because the name
    /// may become known. If the handler may not wait, the stream ends after the current status.
    package func watch(
        _ request: HealthCheckRequest, responses: ResponseWriter<HealthCheckResponse>, context: CallContext
    ) async throws {
        let isKnown = services.contains(request.service)
        let message = { (isServing: Bool) in
            isKnown ? response(isServing) : HealthCheckResponse(status: .serviceUnknown)
        }
        guard context.mayWait else { return try await responses.write(message(state.isServing)) }
        for await isServing in state.changes() { try await responses.write(message(isServing)) }
    }

    private func response(_ isServing: Bool) -> HealthCheckResponse {
        HealthCheckResponse(status: isServing ? .serving : .notServing)
    }
}

/// Whether the server accepts calls; one object for all its listeners. Watchers receive each change.
package final class ServingState: Sendable {
    private struct State {
        var isServing = true
        var isEnded = false
        var watchers: [Int: AsyncStream<Bool>.Continuation] = [:]
        var nextWatcher = 0
    }

    private let state = Lock(State())

    package init() {}

    package var isServing: Bool { state.withLock { $0.isServing } }

    /// Ends the acceptance of new calls: from then on health responds with NOT_SERVING.
    package func stopServing() {
        let watchers = state.withLock { state in
            state.isServing = false
            return Array(state.watchers.values)
        }
        for watcher in watchers { watcher.yield(false) }
    }

    /// Ends serving finally, after the effect of `stopServing`: each watch ends, because it would delay the end of the server.
    package func end() {
        stopServing()
        let watchers = state.withLock { state in
            state.isEnded = true
            return Array(state.watchers.values)
        }
        for watcher in watchers { watcher.finish() }
    }

    /// Returns the current state, and then each change; a slow watcher receives only the latest.
    package func changes() -> AsyncStream<Bool> {
        let (stream, continuation) = AsyncStream<Bool>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            let number = state.nextWatcher
            state.nextWatcher += 1
            state.watchers[number] = continuation
            continuation.yield(state.isServing)
            if state.isEnded { continuation.finish() }
            return number
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.watchers.removeValue(forKey: number) }
        }
        return stream
    }
}
