import Crypto
import HTTPTypes
package import Proto
package import RPC

/// The gRPC service that gives a device its first key, and a new one if the first was lost. It needs no token.
package struct DeviceInitService: DeviceInitServiceHandler {
    let initialization: Initialization

    package func initDevice(_ request: InitDeviceRequest, context: CallContext) async throws -> InitDeviceResponse {
        let issued = try await initialization.run(
            .initialize, deviceID: request.deviceID, sdkVersion: request.sdkVersion, platform: request.platform,
            peer: context.peer.host, traceparent: context.trace?.traceparent)
        return InitDeviceResponse(apiKey: issued.credential.exposedText, tags: issued.tags)
    }

    package func reinitDevice(_ request: ReinitDeviceRequest, context: CallContext) async throws -> InitDeviceResponse {
        let issued = try await initialization.run(
            .reinitialize, deviceID: request.deviceID, sdkVersion: request.sdkVersion, platform: request.platform,
            peer: context.peer.host, traceparent: context.trace?.traceparent)
        return InitDeviceResponse(apiKey: issued.credential.exposedText, tags: issued.tags)
    }
}
