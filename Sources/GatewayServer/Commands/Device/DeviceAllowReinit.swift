import CommandLineInterface
import Proto

/// `data-gateway device allow-reinit`
struct DeviceAllowReinit: ClientCommand {
    static let name = "allow-reinit"
    static let summary = "Allow a device for 15 minutes to replace a key that is in use"

    static var parameters: [Parameter<Self>] {
        [.argument("DEVICE_ID", \.deviceID, "The device's id: YYMMDD-NNNNNN")] + connectionParameters
    }

    var deviceID = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        Reply(
            try await DeviceManagementServiceClient(gateway).allowReinit(
                AllowReinitRequest(name: DeviceNames.device(deviceID))))
    }
}
