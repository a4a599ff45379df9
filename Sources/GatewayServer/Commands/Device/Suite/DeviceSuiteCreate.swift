import CommandLineInterface
import Proto

/// `data-gateway device suite create`
struct DeviceSuiteCreate: ClientCommand {
    static let name = "create"
    static let summary = "Create a suite, a group of devices at one site"

    static var parameters: [Parameter<Self>] {
        [
            .option("--site", "SITE_ID", \.siteID, "The number of the suite's site", isRequired: true),
            .option("--display-name", "TEXT", \.displayName, "The suite's display name", isRequired: true),
            .option("--description", "TEXT", \.description, "The suite's description"),
        ] + connectionParameters
    }

    var siteID: Int64 = 0
    var displayName = ""
    var description = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        Reply(
            try await DeviceManagementServiceClient(gateway).createDeviceSuite(
                CreateDeviceSuiteRequest(siteID: siteID, displayName: displayName, description: description)))
    }
}
