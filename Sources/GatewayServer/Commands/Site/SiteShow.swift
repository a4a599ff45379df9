import CommandLineInterface
import Proto

/// `data-gateway site show`
struct SiteShow: ClientCommand {
    static let name = "show"
    static let summary = "Show a site"

    static var parameters: [Parameter<Self>] {
        [.argument("SITE", \.site, SiteArgument.help)] + connectionParameters
    }

    var site = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let number = try await SiteArgument.number(of: site, gateway)
        let reply = try await AdminAuthServiceClient(gateway).getSite(GetSiteRequest(siteID: number))
        return Reply(try reply.site.present("site"))
    }
}
