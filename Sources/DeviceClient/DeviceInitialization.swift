import EventLoops
import Proto
import RPC
import Sockets
import Wire

/// Fetches a device's key, and stores it in the device's folder.
package struct DeviceInitialization: Sendable {
    private let folder: DeviceFolder
    private let endpoints: Endpoints
    private let service: DeviceInitServiceClient<GatewayChannel>

    /// - Parameter authorities: PEM; `nil` = the system's trusted authorities.
    package init(_ folder: DeviceFolder, endpoints: Endpoints, authorities: String?) throws {
        self.folder = folder
        self.endpoints = endpoints
        service = DeviceInitServiceClient(
            GatewayChannel(
                to: endpoints.deviceInit, authorities: try endpoints.authorities(authorities),
                loop: EventLoop(name: "device")))
    }

    /// Calls InitDevice or ReinitDevice, and stores the received key together with the endpoints. Until then, an earlier key and its
    /// endpoints stay.
    ///
    /// The call is not retried: a lost response contained a key, and a person must decide whether to request another. Space for the
    /// key is reserved first, because a key that cannot be stored is lost.
    ///
    /// - Throws: `CallFailure`, `DeviceFolder.Failure`.
    package func run(deviceID: String, version: String, platform: String, replacingKey: Bool) async throws
        -> DeviceConfiguration
    {
        try folder.reserve()
        defer { folder.releaseReserve() }
        let reply =
            replacingKey
            ? try await service.reinitDevice(
                ReinitDeviceRequest(deviceID: deviceID, sdkVersion: version, platform: platform))
            : try await service.initDevice(
                InitDeviceRequest(deviceID: deviceID, sdkVersion: version, platform: platform))
        let configuration = DeviceConfiguration(apiKey: reply.apiKey, tags: reply.tags)
        folder.releaseReserve()
        try folder.adopt(
            DeviceFolder.Identity(deviceID: deviceID, configuration: configuration, endpoints: endpoints))
        return configuration
    }
}

/// Changes the address of the gateway of an initialized device.
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
    /// - Throws: `CallFailure` of the call that failed, `DeviceFolder.Failure`.
    package func run() async throws {
        let configuration = try folder.initializedConfiguration()
        let reply = try await AuthServiceClient(auth).exchangeCredential(
            ExchangeCredentialRequest(credential: configuration.apiKey))
        try await proof.run(token: reply.accessToken)
        try folder.write(endpoints)
    }
}

/// The proof that the listeners at new endpoints are the gateway's: they accept a device's token.
struct AddressProof: Sendable {
    private let gateway: GatewayChannel
    private let deviceInit: GatewayChannel

    init(_ endpoints: Endpoints, authorities: TLSAuthorities?, loop: EventLoop) {
        gateway = GatewayChannel(to: endpoints.gateway, authorities: authorities, loop: loop)
        deviceInit = GatewayChannel(to: endpoints.deviceInit, authorities: authorities, loop: loop)
    }

    /// - Throws: `CallFailure` of the call that failed.
    func run(token: String) async throws {
        do {
            _ = try await DataGatewayServiceClient(gateway).getUploadRecovery(
                GetUploadRecoveryRequest(logicalUploadID: "00000000-0000-0000-0000-000000000000"),
                options: CallOptions(metadata: [("authorization", "Bearer \(token)")]))
        } catch let failure as CallFailure where failure.isOfUnknownUpload {
            // Only a gateway that accepts the token looks for the upload.
        }
        let _: HealthCheckResponse = try await deviceInit.unary(
            HealthMethods.check, HealthCheckRequest(), options: CallOptions())
    }
}
