import CommandLineInterface
import Proto

/// `data-gateway site create`
struct SiteCreate: ClientCommand {
    static let name = "create"
    static let summary = "Create a site, a place of devices"

    static var parameters: [Parameter<Self>] {
        [.argument("NAME", \.siteName, "The site's name")] + connectionParameters
    }

    var siteName = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let reply = try await AdminAuthServiceClient(gateway).createSite(CreateSiteRequest(name: siteName))
        return Reply(try reply.site.present("site"))
    }
}
