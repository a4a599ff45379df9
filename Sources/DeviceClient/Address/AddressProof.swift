import EventLoops
import GatewayFormats
import Proto
import Sockets
import Wire

/// The proof that the listeners at new endpoints are the gateway's: they accept a device's token, and each serves what a device
/// calls there.
struct AddressProof: Sendable {
    private let endpoints: Endpoints
    private let gateway: GatewayChannel
    private let auth: GatewayChannel
    private let deviceInit: GatewayChannel

    init(_ endpoints: Endpoints, authorities: TLSAuthorities?, loop: EventLoop) {
        self.endpoints = endpoints
        gateway = GatewayChannel(to: endpoints.gateway, authorities: authorities, loop: loop)
        auth = GatewayChannel(to: endpoints.auth, authorities: authorities, loop: loop)
        deviceInit = GatewayChannel(to: endpoints.deviceInit, authorities: authorities, loop: loop)
    }

    /// - Throws: `CallFailure` of the call that failed, `WrongListener`.
    func run(token: String) async throws {
        do {
            try await WrongListener.recognizing(endpoints.gateway, DataGatewayServiceMethods.service) {
                _ = try await DataGatewayServiceClient(gateway).getUploadRecovery(
                    GetUploadRecoveryRequest(logicalUploadID: "00000000-0000-0000-0000-000000000000"),
                    options: CallOptions(metadata: [("authorization", "Bearer \(token)")]))
            }
        } catch let failure as CallFailure where failure.isOfUnknownUpload {
            // Only a gateway that accepts the token looks for the upload.
        }
        try await check(auth, endpoints.auth, AuthServiceMethods.service)
        try await check(deviceInit, endpoints.deviceInit, DeviceInitServiceMethods.service)
    }

    /// Asks for the health of a service, because its own calls would change something.
    private func check(_ channel: GatewayChannel, _ endpoint: Endpoints.Endpoint, _ service: String) async throws {
        try await WrongListener.recognizing(endpoint, service) {
            let _: HealthCheckResponse = try await channel.unary(
                HealthMethods.check, HealthCheckRequest(service: service), options: CallOptions())
        }
    }
}

/// The error that another listener, or another server, answers at an endpoint.
package struct WrongListener: Error, Sendable, Hashable, CustomStringConvertible {
    private let endpoint: Endpoints.Endpoint
    private let service: String

    package var description: String { "\(endpoint) is another listener: it does not serve \(service)" }

    /// Makes a call of the service, or about it.
    ///
    /// - Throws: `WrongListener` if the answer shows that the server does not have it.
    static func recognizing<Result>(
        _ endpoint: Endpoints.Endpoint, _ service: String, _ call: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await call()
        } catch let failure as CallFailure where failure.isOfUnknownService {
            throw WrongListener(endpoint: endpoint, service: service)
        }
    }
}

extension CallFailure {
    /// Whether the server has no such method, or the health service knows no such service.
    fileprivate var isOfUnknownService: Bool {
        status.code == .unimplemented || status.code == .notFound && method == HealthMethods.check
    }
}
