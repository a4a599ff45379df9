import EventLoops
package import GatewayFormats
import Proto
import RPC

/// Fetches a device's key, and stores it in the device's folder.
package struct DeviceInitialization: Sendable {
    /// The received key, which is stored.
    package struct Result: Sendable {
        package let configuration: DeviceConfiguration
        /// Whether the device had a key at the gateway, which is not valid any more.
        package let replacedKey: Bool
    }

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
    /// A device that was retired and is in use again has no key at the gateway, though its folder has the former one: instead of a
    /// replacement, it gets its first key.
    ///
    /// The call is not retried: a lost response contained a key, and a person must decide whether to request another. Space for the
    /// key is reserved first, because a key that cannot be stored is lost.
    ///
    /// - Throws: `CallFailure`, `DeviceFolder.Failure`.
    package func run(deviceID: String, version: String, platform: String, replacingKey: Bool) async throws
        -> Result
    {
        try folder.reserve()
        defer { folder.releaseReserve() }
        // Another process must not replace the former key meanwhile.
        let lock = try? folder.lockKey(waits: true)
        defer { withExtendedLifetime(lock) {} }
        let replacement =
            replacingKey
            ? try await replacement(ReinitDeviceRequest(deviceID: deviceID, sdkVersion: version, platform: platform))
            : nil
        let reply: InitDeviceResponse
        if let replacement {
            reply = replacement
        } else {
            reply = try await service.initDevice(
                InitDeviceRequest(deviceID: deviceID, sdkVersion: version, platform: platform))
        }
        let configuration = DeviceConfiguration(apiKey: reply.apiKey, tags: reply.tags)
        folder.releaseReserve()
        try folder.adopt(
            DeviceFolder.Identity(deviceID: deviceID, configuration: configuration, endpoints: endpoints))
        return Result(configuration: configuration, replacedKey: replacement != nil)
    }

    /// Returns the reply to ReinitDevice; `nil` if the device has no key that could be replaced.
    private func replacement(_ request: ReinitDeviceRequest) async throws -> InitDeviceResponse? {
        do {
            return try await service.reinitDevice(request)
        } catch let failure as CallFailure where failure.detail == .deviceNotInitialized {
            return nil
        }
    }
}
