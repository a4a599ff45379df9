import CommandLineInterface
import Proto

/// `data-gateway device suite remove`
struct DeviceSuiteRemove: ClientCommand {
    static let name = "remove"
    static let summary = "Take a device out of its suite: its key stops on the next call"

    static var parameters: [Parameter<Self>] {
        [
            .argument("SUITE", \.suite, "The suite that it is in"),
            .argument("DEVICE_ID", \.deviceID, "The device"),
        ] + connectionParameters
    }

    var suite = ""
    var deviceID = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        Reply(
            try await DeviceManagementServiceClient(gateway).removeDeviceFromSuite(
                RemoveDeviceFromSuiteRequest(suite: DeviceNames.suite(suite), device: DeviceNames.device(deviceID))))
    }
}
