import CommandLineInterface
import Proto

/// `data-gateway site rename`
struct SiteRename: ClientCommand {
    static let name = "rename"
    static let summary = "Change the name of a site"

    static var parameters: [Parameter<Self>] {
        [.argument("SITE", \.site, SiteArgument.help), .argument("NAME", \.newName, "The new name")]
            + connectionParameters
    }

    var site = ""
    var newName = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let number = try await SiteArgument.number(of: site, gateway)
        let reply = try await AdminAuthServiceClient(gateway).updateSite(
            UpdateSiteRequest(siteID: number, name: newName))
        return Reply(try reply.site.present("site"))
    }
}
