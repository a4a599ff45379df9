import Basics
import HTTPClient
import Proto
import RPC
import Wire

/// Makes the calls of a device: with its token, which is renewed in time, and with retries of temporary errors.
///
/// Every call of DataGatewayService may be repeated; a CreateLogicalUpload whose response is lost leaves an upload that the gateway
/// removes after a time.
struct DeviceCalls: CallTransport {
    /// The time before a token's expiry at which it is exchanged again.
    private static let tokenLead = Duration.minutes(1)

    private let address: GatewayAddress
    private let token: Renewable<String>
    private let retrying: Retrying

    init(at address: GatewayAddress, clock: any WallClock, retrying: Retrying) {
        self.address = address
        self.retrying = retrying
        token = Renewable(lead: Self.tokenLead, clock: clock) {
            let reply = try await address.exchange()
            return Renewable.Issue(value: reply.accessToken, expiresAt: UnixTime(seconds: reply.expiresAtUnix))
        }
    }

    /// Fetches a token if there is no valid one.
    func authenticate() async throws { _ = try await token.current() }

    func unary<Input: Message, Output: Message>(
        _ method: MethodDescriptor, _ request: Input, options: CallOptions
    ) async throws -> Output {
        try await retrying.run(method.name) {
            let current = try await token.current()
            do {
                return try await send(method, request, options.signed(current.value))
            } catch let failure as CallFailure where failure.status.code == .unauthenticated {
                // Exchanged and tried once more: a token ends with its key, and may be expired by a wrong clock.
                let fresh = try await token.replacing(current)
                return try await send(method, request, options.signed(fresh.value))
            }
        }
    }

    private func send<Input: Message, Output: Message>(
        _ method: MethodDescriptor, _ request: Input, _ options: CallOptions
    ) async throws -> Output {
        try await address.trying { try await $0.gateway.unary(method, request, options: options) }
    }

    func serverStreaming<Input: Message, Output: Message>(
        _ method: MethodDescriptor, _ request: Input, options: CallOptions,
        receive: @escaping @Sendable (Output) async throws -> Void
    ) async throws {
        let signed = options.signed(try await token.current().value)
        try await address.place.gateway.serverStreaming(method, request, options: signed, receive: receive)
    }
}

extension CallOptions {
    fileprivate func signed(_ token: String) -> CallOptions {
        CallOptions(timeout: timeout, metadata: metadata + [("authorization", "Bearer \(token)")])
    }
}
