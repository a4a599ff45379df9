import Accounts
import Basics

/// The facts about a device's calls and uploads from which its diagnosis is made.
struct DeviceFacts: Sendable {
    let device: DeviceRecord
    /// `nil` if the device is in no suite.
    var siteStatus: Availability?
    /// `nil` if the device has no key.
    var key: DeviceKeys.State?
    /// By reason, the latest first.
    var refusals: [RefusalRecord] = []
    /// By address, the latest first.
    var unproven: [UnprovenCalls.Tally] = []
    var uploads = DeviceUploadActivity()
    let now: UnixTime

    /// The difference of the device's clock, unless the device called later without it.
    var clockOffset: Int64? {
        guard let clock = device.clock, isRecent(clock.notedAt) else { return nil }
        return clock.offset
    }

    /// Whether the device was not heard of for long after that time.
    func isRecent(_ time: UnixTime) -> Bool {
        device.lastSeenAt.map { time >= $0.subtracting(.hours(1)) } ?? true
    }
}
