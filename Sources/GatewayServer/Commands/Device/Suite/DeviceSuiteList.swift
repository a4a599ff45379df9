import CommandLineInterface
import Proto

/// `data-gateway device suite list`
struct DeviceSuiteList: ClientCommand {
    static let name = "list"
    static let summary = "List the suites of all sites or of one"

    static var parameters: [Parameter<Self>] {
        [.option("--site", "SITE", \.site, "List only suites of this site, by its number or name")]
            + connectionParameters
    }

    var site: String?
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let number = try await SiteArgument.existing(site, gateway)
        return Reply("device_suites", try await DeviceManagementServiceClient(gateway).allSuites(siteID: number))
    }
}
