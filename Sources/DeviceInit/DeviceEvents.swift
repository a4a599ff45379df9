import Accounts
import Webhooks

/// What webhooks are told of devices. The names are a format that others read: a new one is optional, an old one stays.
extension Event {
    private struct InitializedDevice: Encodable {
        let deviceID: String
        let siteID, suiteID: Int64
        let sdkVersion, platform: String
        let isReinit: Bool
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
}
