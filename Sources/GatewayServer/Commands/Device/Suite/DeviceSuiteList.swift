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
        let registry = DeviceManagementServiceClient(gateway)
        let suites = try await Pages.all { token in
            let page = try await registry.listDeviceSuites(
                ListDeviceSuitesRequest(siteID: siteID ?? 0, pageSize: Pages.size, pageToken: token))
            return (page.deviceSuites, page.nextPageToken)
        }
        return Reply("device_suites", suites)
    }
}
