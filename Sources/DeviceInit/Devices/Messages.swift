import Accounts
import Basics
import GatewayAPI
import Proto
import RPC

extension SuiteRecord {
    var message: DeviceSuite {
        DeviceSuite(
            name: ResourceName.suite(id), siteID: siteID, displayName: displayName, description: description,
            createdAt: Timestamp(createdAt), updatedAt: Timestamp(updatedAt))
    }
}

extension DeviceView {
    var message: Device {
        Device(
            name: ResourceName.device(device.id), deviceID: device.id, displayName: device.displayName,
            description: device.description, suite: device.suiteID.map(ResourceName.suite) ?? "", tags: device.tags,
            status: device.status, siteID: device.siteID ?? 0, sdkVersion: device.sdkVersion,
            platform: device.platform, initializedAt: device.initializedAt.map { Timestamp($0) },
            lastSeenAt: [device.lastSeenAt, keyUsedAt].compactMap { $0 }.max().map { Timestamp($0) },
            createdAt: Timestamp(device.createdAt), updatedAt: Timestamp(device.updatedAt),
            retiredAt: device.retiredAt.map { Timestamp($0) }, addressSerial: device.addressSerial,
            keyRotationRequestedAt: device.keyRotationRequestedAt.map { Timestamp($0) })
    }
}

extension DeviceRecord {
    fileprivate var status: DeviceStatus {
        if retiredAt != nil { return .retired }
        if isDisabled { return .disabled }
        return initializedAt == nil ? .registered : .initialized
    }
}

extension DeviceStatus {
    /// The filter of a list; `nil` = any.
    var filter: DeviceFilter.Status? {
        get throws(RPCError) {
            switch self {
            case .unspecified: nil
            case .registered: .registered
            case .initialized: .initialized
            case .disabled: .disabled
            case .retired: .retired
            case .unrecognized: throw .invalidArgument("status must be REGISTERED, INITIALIZED, DISABLED or RETIRED")
            }
        }
    }
}
