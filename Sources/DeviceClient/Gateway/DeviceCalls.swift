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

    private let gateway: GatewayChannel
    private let token: Renewable<String>
    private let retrying: Retrying

    init(
        gateway: GatewayChannel, auth: GatewayChannel, credential: String, clock: any WallClock, retrying: Retrying
    ) {
        self.gateway = gateway
        self.retrying = retrying
        token = Renewable(lead: Self.tokenLead, clock: clock) {
            let reply = try await AuthServiceClient(auth).exchangeCredential(
                ExchangeCredentialRequest(credential: credential))
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
                return try await gateway.unary(method, request, options: options.signed(current.value))
            } catch let failure as CallFailure where failure.status.code == .unauthenticated {
                // Exchanged and tried once more: a token ends with its key, and may be expired by a wrong clock.
                let fresh = try await token.replacing(current)
                return try await gateway.unary(method, request, options: options.signed(fresh.value))
            }
        }
    }

    func serverStreaming<Input: Message, Output: Message>(
        _ method: MethodDescriptor, _ request: Input, options: CallOptions,
        receive: @escaping @Sendable (Output) async throws -> Void
    ) async throws {
        try await gateway.serverStreaming(
            method, request, options: options.signed(try await token.current().value), receive: receive)
    }
}

extension CallOptions {
    fileprivate func signed(_ token: String) -> CallOptions {
        CallOptions(timeout: timeout, metadata: metadata + [("authorization", "Bearer \(token)")])
    }
}
