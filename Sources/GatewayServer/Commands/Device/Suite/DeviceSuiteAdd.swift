import CommandLineInterface
import Proto

/// `data-gateway device suite add`
struct DeviceSuiteAdd: ClientCommand {
    static let name = "add"
    static let summary = "Add a device to a suite and to the suite's site"

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
            try await DeviceManagementServiceClient(gateway).addDeviceToSuite(
                AddDeviceToSuiteRequest(suite: suite, device: DeviceNames.device(deviceID))))
    }
}
