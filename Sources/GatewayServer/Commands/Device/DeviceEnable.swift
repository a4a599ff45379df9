import CommandLineInterface
import Proto

/// `data-gateway device enable`
struct DeviceEnable: ClientCommand {
    static let name = "enable"
    static let summary = "Enable a disabled device (its key works again with the next call)"

    static var parameters: [Parameter<Self>] {
        [.argument("DEVICE_ID", \.deviceID, "The device's id: YYMMDD-NNNNNN")] + connectionParameters
    }

    var deviceID = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        Reply(
            try await DeviceManagementServiceClient(gateway).enableDevice(
                EnableDeviceRequest(name: DeviceNames.device(deviceID))))
    }
}
