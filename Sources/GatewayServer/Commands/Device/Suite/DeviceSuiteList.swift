import CommandLineInterface
import Proto

/// `data-gateway device suite list`
struct DeviceSuiteList: ClientCommand {
    static let name = "list"
    static let summary = "List the suites of all sites or of one"

    static var parameters: [Parameter<Self>] {
        [.option("--site", "SITE_ID", \.siteID, "List only suites of this site")] + connectionParameters
    }

    var siteID: Int64?
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        Reply("device_suites", try await DeviceManagementServiceClient(gateway).allSuites(siteID: siteID ?? 0))
    }
}
