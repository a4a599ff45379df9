import CommandLineInterface
import Proto

/// `data-gateway site create`
struct SiteCreate: ClientCommand {
    static let name = "create"
    static let summary = "Create a site, a place where devices are"

    static var parameters: [Parameter<Self>] {
        [.argument("NAME", \.siteName, "What people call the site")] + connectionParameters
    }

    var siteName = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let reply = try await AdminAuthServiceClient(gateway).createSite(CreateSiteRequest(name: siteName))
        return Reply(try reply.site.present("site"))
    }
}
