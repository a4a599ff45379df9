import CommandLineInterface
import Proto

/// `data-gateway device suite remove`
struct DeviceSuiteRemove: ClientCommand {
    static let name = "remove"
    static let summary = "Remove a device from its suite (its key stops working with the next call)"

    static var parameters: [Parameter<Self>] {
        [
            .argument("SUITE", \.suite, SuiteArgument.help),
            .argument("DEVICE_ID", \.deviceID, "The device's id: YYMMDD-NNNNNN"),
        ] + connectionParameters
    }

    var suite = ""
    var deviceID = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let suite = try await SuiteArgument.name(of: suite, gateway)
        return Reply(
            try await DeviceManagementServiceClient(gateway).removeDeviceFromSuite(
                RemoveDeviceFromSuiteRequest(suite: suite, device: DeviceNames.device(deviceID))))
    }
}
