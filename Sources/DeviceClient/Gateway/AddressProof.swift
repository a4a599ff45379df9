import EventLoops
package import GatewayFormats
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

/// Changes the address of the gateway of an initialized device, as a person asked for it.
package struct AddressChange: Sendable {
    private let folder: DeviceFolder
    private let endpoints: Endpoints
    private let proof: AddressProof
    private let auth: GatewayChannel

    /// - Parameter authorities: PEM; `nil` = the system's trusted authorities.
    package init(_ folder: DeviceFolder, endpoints: Endpoints, authorities: String?) throws {
        self.folder = folder
        self.endpoints = endpoints
        let loop = EventLoop(name: "device")
        let authorities = try endpoints.authorities(authorities)
        auth = GatewayChannel(to: endpoints.auth, authorities: authorities, loop: loop)
        proof = AddressProof(endpoints, authorities: authorities, loop: loop)
    }

    /// Exchanges the device's key at the new address, makes a call with the token there, and only then stores the address.
    ///
    /// - Throws: `CallFailure` of the call that failed, `WrongListener`, `DeviceFolder.Failure`.
    package func run() async throws {
        let reply = try await DeviceKey(folder).trying { [auth, endpoints] credential in
            try await WrongListener.recognizing(endpoints.auth, AuthServiceMethods.service) {
                try await AuthServiceClient(auth).exchangeCredential(ExchangeCredentialRequest(credential: credential))
            }
        }
        try await proof.run(token: reply.accessToken)
        try folder.move(to: endpoints)
    }
}
