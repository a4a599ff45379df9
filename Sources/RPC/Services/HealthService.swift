package import CommonProto
package import GRPCWire

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
