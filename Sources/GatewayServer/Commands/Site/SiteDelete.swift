import CommandLineInterface
import Proto

/// `data-gateway site delete`
struct SiteDelete: ClientCommand {
    static let name = "delete"
    static let summary = "Delete a site that has no suites and no API keys"

    static var parameters: [Parameter<Self>] {
        [.argument("SITE", \.site, SiteArgument.help)] + connectionParameters
    }

    var site = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let number = try await SiteArgument.number(of: site, gateway)
        _ = try await AdminAuthServiceClient(gateway).deleteSite(DeleteSiteRequest(siteID: number))
        return .deleted("site_id", .number(number), "site \(number)")
    }
}
