import CommandLineInterface
import Proto

/// `data-gateway device show`
struct DeviceShow: ClientCommand {
    static let name = "show"
    static let summary = "Show a device"

    static var parameters: [Parameter<Self>] {
        [.argument("DEVICE_ID", \.deviceID, "The device's id: YYMMDD-NNNNNN")] + connectionParameters
    }

    var deviceID = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        Reply(
            try await DeviceManagementServiceClient(gateway).getDevice(
                GetDeviceRequest(name: DeviceNames.device(deviceID))))
    }
}
