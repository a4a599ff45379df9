import CommandLineInterface
import Proto

/// `data-gateway device register`
struct DeviceRegister: ClientCommand {
    static let name = "register"
    static let summary = "Register a device, so that it can fetch its first key"

    static var parameters: [Parameter<Self>] {
        [
            .argument(
                "DEVICE_ID", \.deviceID,
                "YYMMDD-NNNNNN; without one the gateway assigns today's date and six random digits", isRequired: false),
            .option("--suite", "SUITE", \.suite, "The suite it belongs to; it gets no key before it has one"),
            .option("--display-name", "TEXT", \.displayName, "What people call the device"),
            .option("--description", "TEXT", \.description, "What it is"),
            .repeated("--tag", "KEY=VALUE", \.tags, "A tag that the device puts on what it uploads"),
        ] + connectionParameters
    }

    var deviceID = ""
    var suite = ""
    var displayName = ""
    var description = ""
    var tags: [TagArgument] = []
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        Reply(
            try await DeviceManagementServiceClient(gateway).registerDevice(
                RegisterDeviceRequest(
                    deviceID: deviceID, displayName: displayName, description: description,
                    suite: DeviceNames.suite(suite), tags: try tags.dictionary())))
    }
}
