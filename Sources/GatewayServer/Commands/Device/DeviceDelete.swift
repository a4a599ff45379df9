import CommandLineInterface
import Proto

/// `data-gateway device delete`
struct DeviceDelete: ClientCommand {
    static let name = "delete"
    static let summary = "Delete a device and its key"
    static let discussion = ["The device's objects stay."]

    static var parameters: [Parameter<Self>] {
        [.argument("DEVICE_ID", \.deviceID, "The device")] + connectionParameters
    }

    var deviceID = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let device = DeviceNames.device(deviceID)
        _ = try await DeviceManagementServiceClient(gateway).deleteDevice(DeleteDeviceRequest(name: device))
        return .deleted("name", .string(device), device)
    }
}
