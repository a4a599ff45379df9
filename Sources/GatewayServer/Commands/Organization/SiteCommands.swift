import Basics
import CommandLineInterface
import JSON
import Proto

/// A command whose only argument is a site.
protocol SiteCommand: ClientCommand {
    var site: String { get set }

    func call(_ gateway: SignedInConnection, site number: Int64) async throws -> Reply
}

extension SiteCommand {
    static var parameters: [Parameter<Self>] {
        [.argument("SITE", \.site, SiteArgument.help)] + connectionParameters
    }

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        try await call(gateway, site: try await SiteArgument.number(of: site, gateway))
    }
}

/// `data-gateway site show`
struct SiteShow: SiteCommand {
    static let name = "show"
    static let summary = "Show a site"

    var site = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection, site number: Int64) async throws -> Reply {
        let reply = try await AdminAuthServiceClient(gateway).getSite(GetSiteRequest(siteID: number))
        return Reply(try reply.site.present("site"))
    }
}

/// `data-gateway site enable`
struct SiteEnable: SiteCommand {
    static let name = "enable"
    static let summary = "Enable a disabled site, so that its keys work again"

    var site = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection, site number: Int64) async throws -> Reply {
        let reply = try await AdminAuthServiceClient(gateway).enableSite(EnableSiteRequest(siteID: number))
        return Reply(try reply.site.present("site"))
    }
}

/// `data-gateway site disable`
struct SiteDisable: SiteCommand {
    static let name = "disable"
    static let summary = "Disable a site (its keys stop working with the next call)"

    var site = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection, site number: Int64) async throws -> Reply {
        let reply = try await AdminAuthServiceClient(gateway).disableSite(DisableSiteRequest(siteID: number))
        return Reply(try reply.site.present("site"))
    }
}

/// `data-gateway site delete`
struct SiteDelete: SiteCommand {
    static let name = "delete"
    static let summary = "Delete a site that has no suites and no API keys"

    var site = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection, site number: Int64) async throws -> Reply {
        _ = try await AdminAuthServiceClient(gateway).deleteSite(DeleteSiteRequest(siteID: number))
        return .deleted("site_id", .number(number), "site \(number)")
    }
}

/// `data-gateway site create`
struct SiteCreate: ClientCommand {
    static let name = "create"
    static let summary = "Create a site, a place of devices"

    static var parameters: [Parameter<Self>] {
        [
            .argument("NAME", \.siteName, "The site's name"),
            .option("--time-zone", "ZONE", \.timeZone, "The time zone of the site's days, such as Europe/Berlin"),
        ] + connectionParameters
    }

    var siteName = ""
    var timeZone = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let reply = try await AdminAuthServiceClient(gateway).createSite(
            CreateSiteRequest(name: siteName, timeZone: timeZone))
        return Reply(try reply.site.present("site"))
    }
}

/// `data-gateway site list`
struct SiteList: ClientCommand {
    static let name = "list"
    static let summary = "List the organization's sites"

    static var parameters: [Parameter<Self>] { connectionParameters }

    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        Reply("sites", try await AdminAuthServiceClient(gateway).allSites())
    }
}

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
        try await Reply(updating: site, gateway) { UpdateSiteRequest(siteID: $0, name: newName) }
    }
}

/// `data-gateway site set-time-zone`
struct SiteSetTimeZone: ClientCommand {
    static let name = "set-time-zone"
    static let summary = "Set the time zone of a site's days"

    static var parameters: [Parameter<Self>] {
        [
            .argument("SITE", \.site, SiteArgument.help),
            .argument("ZONE", \.zone, "A name of the time zone database, such as Europe/Berlin; '' = none")
                .allowingEmpty(),
        ] + connectionParameters
    }

    var site = ""
    var zone = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        try await Reply(updating: site, gateway) { UpdateSiteRequest(siteID: $0, timeZone: zone) }
    }
}

/// `data-gateway site set-silent-after`
struct SiteSetSilentAfter: ClientCommand {
    static let name = "set-silent-after"
    static let summary = "Set the time after which devices of a site are silent"

    static var parameters: [Parameter<Self>] {
        [.argument("SITE", \.site, SiteArgument.help), .argument("TIME", \.limit, SilenceArgument.help)]
            + connectionParameters
    }

    var site = ""
    var limit = SilenceArgument.inherited
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        try await Reply(updating: site, gateway) { UpdateSiteRequest(siteID: $0, silentAfterHours: limit.hours) }
    }
}

extension Reply {
    /// Changes a site, and shows it as it is then.
    ///
    /// - Parameter request: makes the request for the site's id.
    fileprivate init(
        updating site: String, _ gateway: SignedInConnection, _ request: (Int64) -> UpdateSiteRequest
    ) async throws {
        let number = try await SiteArgument.number(of: site, gateway)
        let reply = try await AdminAuthServiceClient(gateway).updateSite(request(number))
        self.init(try reply.site.present("site"))
    }
}
