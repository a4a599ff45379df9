import CommandLineInterface
import Proto

/// A command that changes which suite has a device.
protocol DeviceSuiteMembership: ClientCommand {
    var suite: String { get set }
    var deviceID: String { get set }

    /// - Parameters:
    ///   - suite: the suite's resource name.
    ///   - device: the device's resource name.
    func call(_ devices: DeviceManagementServiceClient<SignedInConnection>, suite: String, device: String) async throws
        -> Reply
}

extension DeviceSuiteMembership {
    static var parameters: [Parameter<Self>] {
        [
            .argument("SUITE", \.suite, SuiteArgument.help),
            .argument("DEVICE_ID", \.deviceID, "The device's id: YYMMDD-NNNNNN"),
        ] + connectionParameters
    }

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let suite = try await SuiteArgument.name(of: suite, gateway)
        return try await call(
            DeviceManagementServiceClient(gateway), suite: suite, device: DeviceNames.device(deviceID))
    }
}

/// `data-gateway device suite add`
struct DeviceSuiteAdd: DeviceSuiteMembership {
    static let name = "add"
    static let summary = "Add a device to a suite and to the suite's site"

    var suite = ""
    var deviceID = ""
    var connection = ConnectionOptions()

    func call(_ devices: DeviceManagementServiceClient<SignedInConnection>, suite: String, device: String) async throws
        -> Reply
    {
        Reply(try await devices.addDeviceToSuite(AddDeviceToSuiteRequest(suite: suite, device: device)))
    }
}

/// `data-gateway device suite remove`
struct DeviceSuiteRemove: DeviceSuiteMembership {
    static let name = "remove"
    static let summary = "Remove a device from its suite (its key stops working with the next call)"

    var suite = ""
    var deviceID = ""
    var connection = ConnectionOptions()

    func call(_ devices: DeviceManagementServiceClient<SignedInConnection>, suite: String, device: String) async throws
        -> Reply
    {
        Reply(try await devices.removeDeviceFromSuite(RemoveDeviceFromSuiteRequest(suite: suite, device: device)))
    }
}
