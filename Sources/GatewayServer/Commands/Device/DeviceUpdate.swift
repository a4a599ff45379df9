import CommandLineInterface
import Proto

/// `data-gateway device update`
struct DeviceUpdate: ClientCommand {
    static let name = "update"
    static let summary = "Change a device's display name, description and tags"

    static var parameters: [Parameter<Self>] {
        [
            .argument("DEVICE_ID", \.deviceID, "The device's id: YYMMDD-NNNNNN"),
            .option("--display-name", "TEXT", \.displayName, "The device's display name").allowingEmpty(),
            .option("--description", "TEXT", \.description, "The device's description").allowingEmpty(),
            .repeated("--tag", "KEY=VALUE", \.tags, "A tag to add or to change"),
            .flag("--replace-tags", \.replaceTags, "Remove all tags that are not given"),
        ] + connectionParameters
    }

    var deviceID = ""
    var displayName: String?
    var description: String?
    var tags: [TagArgument] = []
    var replaceTags = false
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        Reply(
            try await DeviceManagementServiceClient(gateway).updateDevice(
                UpdateDeviceRequest(
                    name: DeviceNames.device(deviceID), displayName: displayName, description: description,
                    tags: try tags.dictionary(), replaceTags: replaceTags)))
    }
}
