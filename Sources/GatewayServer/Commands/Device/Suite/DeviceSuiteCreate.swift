import CommandLineInterface
import Proto

/// `data-gateway device suite create`
struct DeviceSuiteCreate: ClientCommand {
    static let name = "create"
    static let summary = "Create a suite: devices of one site that work together"

    static var parameters: [Parameter<Self>] {
        [
            .option("--site", "SITE_ID", \.siteID, "The number of the site it belongs to", isRequired: true),
            .option("--display-name", "TEXT", \.displayName, "What people call the suite", isRequired: true),
            .option("--description", "TEXT", \.description, "What it is for"),
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
