import Accounts
import Basics
import Webhooks

/// The contents of webhook events about devices. The names are a public format: new fields are optional, existing ones stay.
extension Event {
    private struct InitializedDevice: Encodable {
        let deviceID: String
        let siteID, suiteID: Int64
        let sdkVersion, platform: String
        let isReinit: Bool
    }

    private struct SilentDevice: Encodable {
        let deviceID, displayName: String
        let siteID, suiteID: Int64?
        let lastSeenAt: String
        let silentAfterHours: Int64
    }

    private struct ReturnedDevice: Encodable {
        let deviceID, displayName: String
        let siteID, suiteID: Int64?
        let silentSince: String?
        let lastSeenAt: String
    }

    static func deviceInitialized(
        _ place: DeviceKeys.Place, sdkVersion: String, platform: String, isReinit: Bool,
        traceparent: String?
    ) -> Event {
        Event(
            .deviceInitialized, subject: "devices/\(place.deviceID)", organizationID: place.organizationID,
            data: InitializedDevice(
                deviceID: place.deviceID, siteID: place.siteID, suiteID: place.suiteID, sdkVersion: sdkVersion,
                platform: platform, isReinit: isReinit), traceparent: traceparent)
    }

    static func deviceSilent(_ device: DeviceSilence) -> Event {
        Event(
            .deviceSilent, subject: ResourceName.device(device.deviceID), organizationID: device.organization.id,
            data: SilentDevice(
                deviceID: device.deviceID, displayName: device.displayName, siteID: device.siteID,
                suiteID: device.suiteID, lastSeenAt: RFC3339.text(device.lastSeenAt),
                silentAfterHours: device.limitHours))
    }

    static func deviceReturned(_ device: DeviceSilence) -> Event {
        Event(
            .deviceReturned, subject: ResourceName.device(device.deviceID), organizationID: device.organization.id,
            data: ReturnedDevice(
                deviceID: device.deviceID, displayName: device.displayName, siteID: device.siteID,
                suiteID: device.suiteID, silentSince: device.silentSince.map { RFC3339.text($0) },
                lastSeenAt: RFC3339.text(device.lastSeenAt)))
    }
}
