import EventLoops
import Proto
import RPC

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
        // Another process must not replace the former key meanwhile.
        let lock = try? folder.lockKey(waits: true)
        defer { withExtendedLifetime(lock) {} }
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
