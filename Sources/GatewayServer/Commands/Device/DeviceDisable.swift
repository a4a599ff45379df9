import CommandLineInterface
import Proto

/// `data-gateway device disable`
struct DeviceDisable: ClientCommand {
    static let name = "disable"
    static let summary = "Disable a device (its key stops working with the next call)"

    static var parameters: [Parameter<Self>] {
        [.argument("DEVICE_ID", \.deviceID, "The device's id: YYMMDD-NNNNNN")] + connectionParameters
    }

    var deviceID = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        Reply(
            try await DeviceManagementServiceClient(gateway).disableDevice(
                DisableDeviceRequest(name: DeviceNames.device(deviceID))))
    }
}
