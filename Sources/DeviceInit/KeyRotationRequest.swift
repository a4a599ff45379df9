import Accounts
import GatewayFormats
import Proto
import RPC

/// The devices that are asked to replace their keys.
enum KeyRotationTarget: Sendable, Hashable {
    /// The largest number of named devices.
    static let maximumDevices = 1000

    case devices([DeviceID])
    case suite(Int64)
    case site(Int64)
    case all

    /// - Throws: INVALID_ARGUMENT unless exactly one field is set.
    init(_ request: RotateDeviceKeysRequest) throws(RPCError) {
        let fields = [!request.devices.isEmpty, !request.suite.isEmpty, request.siteID != 0, request.all]
        guard fields.filter({ $0 }).count == 1 else {
            throw .invalidArgument("exactly one of devices, suite, site_id and all must be set")
        }
        if !request.devices.isEmpty {
            self = .devices(try Self.devices(request.devices))
        } else if !request.suite.isEmpty {
            self = .suite(try ResourceName.suiteID(request.suite, field: "suite"))
        } else {
            self = request.all ? .all : .site(request.siteID)
        }
    }

    private static func devices(_ names: [String]) throws(RPCError) -> [DeviceID] {
        guard names.count <= maximumDevices else {
            throw .invalidArgument("devices must have at most \(maximumDevices) entries, not \(names.count)")
        }
        var seen: Set<DeviceID> = []
        var ids: [DeviceID] = []
        for (index, name) in names.enumerated() {
            let id = try ResourceName.deviceID(name, field: "devices[\(index)]")
            guard seen.insert(id).inserted else { throw .invalidArgument("devices[\(index)] repeats \(name)") }
            ids.append(id)
        }
        return ids
    }
}

extension KeyRotationCounts {
    var message: RotateDeviceKeysResponse { RotateDeviceKeysResponse(devices: devices, unaware: unaware) }
}
