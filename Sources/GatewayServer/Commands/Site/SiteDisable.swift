import CommandLineInterface
import Proto

/// `data-gateway site disable`
struct SiteDisable: ClientCommand {
    static let name = "disable"
    static let summary = "Disable a site (its keys stop working with the next call)"

    static var parameters: [Parameter<Self>] {
        [.argument("SITE", \.site, SiteArgument.help)] + connectionParameters
    }

    var site = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let number = try await SiteArgument.number(of: site, gateway)
        let reply = try await AdminAuthServiceClient(gateway).disableSite(DisableSiteRequest(siteID: number))
        return Reply(try reply.site.present("site"))
    }
}
