import CommandLineInterface
import Proto

/// `data-gateway device suite list`
struct DeviceSuiteList: ClientCommand {
    static let name = "list"
    static let summary = "List the suites of a site, or of all"

    static var parameters: [Parameter<Self>] {
        [.option("--site", "SITE_ID", \.siteID, "Of this site only")] + connectionParameters
    }

    var siteID: Int64?
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        Reply("device_suites", try await DeviceManagementServiceClient(gateway).allSuites(siteID: siteID ?? 0))
    }
}
