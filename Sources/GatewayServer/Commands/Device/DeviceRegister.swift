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
                "YYMMDD-NNNNNN (default: the gateway assigns today's date and six random digits)", isRequired: false),
            .option(
                "--suite", "SUITE", \.suite,
                "The device's suite, by its number or name; without one, a device cannot fetch a key"),
            .option("--display-name", "TEXT", \.displayName, "The device's display name"),
            .option("--description", "TEXT", \.description, "The device's description").allowingEmpty(),
            .repeated("--tag", "KEY=VALUE", \.tags, "A tag for each upload of the device"),
        ] + connectionParameters
    }

    var deviceID = ""
    var suite = ""
    var displayName = ""
    var description = ""
    var tags: [TagArgument] = []
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let suite = try await SuiteArgument.name(of: suite, gateway)
        return Reply(
            try await DeviceManagementServiceClient(gateway).registerDevice(
                RegisterDeviceRequest(
                    deviceID: deviceID, displayName: displayName, description: description, suite: suite,
                    tags: try tags.dictionary())))
    }
}

/// `data-gateway device update`
struct DeviceUpdate: ClientCommand {
    static let name = "update"
    static let summary = "Change a device's display name, description, tags and time until it is silent"

    static var parameters: [Parameter<Self>] {
        [
            .argument("DEVICE_ID", \.deviceID, "The device's id: YYMMDD-NNNNNN"),
            .option("--display-name", "TEXT", \.displayName, "The device's display name").allowingEmpty(),
            .option("--description", "TEXT", \.description, "The device's description").allowingEmpty(),
            .repeated("--tag", "KEY=VALUE", \.tags, "A tag to add or to change"),
            .flag("--replace-tags", \.replaceTags, "Remove all tags that are not given"),
            .option(
                "--silent-after", "TIME", \.silence,
                "The time without a call after which the device is reported as silent: whole hours such as 12h or 3d, 'never', or 'inherit' for that of its suite"
            ),
        ] + connectionParameters
    }

    var deviceID = ""
    var displayName: String?
    var description: String?
    var tags: [TagArgument] = []
    var replaceTags = false
    var silence: SilenceArgument?
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        Reply(
            try await DeviceManagementServiceClient(gateway).updateDevice(
                UpdateDeviceRequest(
                    name: DeviceNames.device(deviceID), displayName: displayName, description: description,
                    tags: try tags.dictionary(), replaceTags: replaceTags,
                    silentAfterHours: silence?.hours)))
    }
}
