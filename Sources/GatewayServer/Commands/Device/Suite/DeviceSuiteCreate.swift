import CommandLineInterface
import Proto

/// `data-gateway device suite create`
struct DeviceSuiteCreate: ClientCommand {
    static let name = "create"
    static let summary = "Create a suite, a group of devices at one site"

    static var parameters: [Parameter<Self>] {
        [
            .option("--site", "SITE", \.site, "The suite's site, by its number or name", isRequired: true),
            .option("--display-name", "TEXT", \.displayName, "The suite's display name", isRequired: true),
            .option("--description", "TEXT", \.description, "The suite's description").allowingEmpty(),
        ] + connectionParameters
    }

    var site = ""
    var displayName = ""
    var description = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let number = try await SiteArgument.number(of: site, gateway)
        return Reply(
            try await DeviceManagementServiceClient(gateway).createDeviceSuite(
                CreateDeviceSuiteRequest(siteID: number, displayName: displayName, description: description)))
    }
}
