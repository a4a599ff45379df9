import Accounts
import Webhooks

/// The contents of webhook events about devices. The names are a public format: new fields are optional, existing ones stay.
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
