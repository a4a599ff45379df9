import CommandLineInterface
import Proto

/// `data-gateway site enable`
struct SiteEnable: ClientCommand {
    static let name = "enable"
    static let summary = "Enable a disabled site, so that its keys work again"

    static var parameters: [Parameter<Self>] {
        [.argument("SITE", \.site, SiteArgument.help)] + connectionParameters
    }

    var site = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let number = try await SiteArgument.number(of: site, gateway)
        let reply = try await AdminAuthServiceClient(gateway).enableSite(EnableSiteRequest(siteID: number))
        return Reply(try reply.site.present("site"))
    }
}
