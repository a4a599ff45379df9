import Basics
import HTTPClient
import Proto
import RPC
import Wire

/// The calls of a device, in its name: the token is renewed in time, and trouble that passes is waited for.
///
/// Every call of DataGatewayService may be repeated; a CreateLogicalUpload whose answer was lost leaves an upload that
/// the gateway sweeps.
struct DeviceCalls: CallTransport {
    /// Seconds before a token's end at which it is exchanged again.
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

    /// Gets a token, where none is good yet.
    func authenticate() async throws { _ = try await token.current() }

    func unary<Input: Message, Output: Message>(
        _ method: MethodDescriptor, _ request: Input, options: CallOptions
    ) async throws -> Output {
        try await retrying.run(method.name) {
            let current = try await token.current()
            do {
                return try await gateway.unary(method, request, options: options.signed(current.value))
            } catch let failure as CallFailure where failure.status.code == .unauthenticated {
                // Exchanged and tried once more: a token stops with its key, and before a wrong clock's time.
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
