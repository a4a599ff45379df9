import Basics
import CommandLineInterface
import JSON
import Proto

/// A command whose only argument is a device.
protocol DeviceCommand: ClientCommand {
    var deviceID: String { get set }

    /// - Parameter name: the device's resource name.
    func call(_ devices: DeviceManagementServiceClient<SignedInConnection>, device name: String) async throws -> Reply
}

extension DeviceCommand {
    static var parameters: [Parameter<Self>] {
        [.argument("DEVICE_ID", \.deviceID, "The device's id: YYMMDD-NNNNNN")] + connectionParameters
    }

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        try await call(DeviceManagementServiceClient(gateway), device: DeviceNames.device(deviceID))
    }
}

/// `data-gateway device show`
struct DeviceShow: DeviceCommand {
    static let name = "show"
    static let summary = "Show a device"

    var deviceID = ""
    var connection = ConnectionOptions()

    func call(_ devices: DeviceManagementServiceClient<SignedInConnection>, device name: String) async throws -> Reply {
        Reply(try await devices.getDevice(GetDeviceRequest(name: name)))
    }
}

/// `data-gateway device enable`
struct DeviceEnable: DeviceCommand {
    static let name = "enable"
    static let summary = "Enable a disabled device (its key works again with the next call)"

    var deviceID = ""
    var connection = ConnectionOptions()

    func call(_ devices: DeviceManagementServiceClient<SignedInConnection>, device name: String) async throws -> Reply {
        Reply(try await devices.enableDevice(EnableDeviceRequest(name: name)))
    }
}

/// `data-gateway device disable`
struct DeviceDisable: DeviceCommand {
    static let name = "disable"
    static let summary = "Disable a device (its key stops working with the next call)"

    var deviceID = ""
    var connection = ConnectionOptions()

    func call(_ devices: DeviceManagementServiceClient<SignedInConnection>, device name: String) async throws -> Reply {
        Reply(try await devices.disableDevice(DisableDeviceRequest(name: name)))
    }
}

/// `data-gateway device allow-reinit`
struct DeviceAllowReinit: DeviceCommand {
    static let name = "allow-reinit"
    static let summary = "Allow a device for 15 minutes to replace a key that is in use"

    var deviceID = ""
    var connection = ConnectionOptions()

    func call(_ devices: DeviceManagementServiceClient<SignedInConnection>, device name: String) async throws -> Reply {
        Reply(try await devices.allowReinit(AllowReinitRequest(name: name)))
    }
}

/// `data-gateway device retire`
struct DeviceRetire: DeviceCommand {
    static let name = "retire"
    static let summary = "Retire a device that is no longer used"
    static let discussion = [
        """
        The device's key and tokens stop working with the next call, its uploads are aborted, and it leaves its suite and \
        the lists, so that the suite and the site can be deleted. Its objects, its name and its audit log stay. \
        'device list --retired' lists retired devices.
        """
    ]

    var deviceID = ""
    var connection = ConnectionOptions()

    func call(_ devices: DeviceManagementServiceClient<SignedInConnection>, device name: String) async throws -> Reply {
        Reply(try await devices.retireDevice(RetireDeviceRequest(name: name)))
    }
}

/// `data-gateway device unretire`
struct DeviceUnretire: DeviceCommand {
    static let name = "unretire"
    static let summary = "Return a retired device to use"
    static let discussion = [
        "The device is registered and in no suite. In a suite, it can fetch its first key again."
    ]

    var deviceID = ""
    var connection = ConnectionOptions()

    func call(_ devices: DeviceManagementServiceClient<SignedInConnection>, device name: String) async throws -> Reply {
        Reply(try await devices.unretireDevice(UnretireDeviceRequest(name: name)))
    }
}

/// `data-gateway device delete`
struct DeviceDelete: DeviceCommand {
    static let name = "delete"
    static let summary = "Delete a device that never fetched a key"
    static let discussion = ["Any other device can be retired with 'device retire': objects may refer to it."]

    var deviceID = ""
    var connection = ConnectionOptions()

    func call(_ devices: DeviceManagementServiceClient<SignedInConnection>, device name: String) async throws -> Reply {
        _ = try await devices.deleteDevice(DeleteDeviceRequest(name: name))
        return .deleted("name", .string(name), name)
    }
}
