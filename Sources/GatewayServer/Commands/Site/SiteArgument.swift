import CommandLineInterface
import Proto

/// A site as an argument: its number, or its name.
enum SiteArgument {
    static let help = "The site's number or name"

    /// Returns the number of the site.
    ///
    /// - Parameter text: `nil` = all sites, which is 0 in requests.
    /// - Throws: `ClientFailure` if no site or several sites have the name.
    static func number(of text: String?, _ gateway: SignedInConnection) async throws -> Int64 {
        guard let text else { return 0 }
        if let number = Int64(text) { return number }
        let sites = try await AdminAuthServiceClient(gateway).allSites()
        guard let site = try site(named: text, of: sites) else {
            throw ClientFailure("no site is named \"\(text)\"")
        }
        return site.siteID
    }

    /// Returns the number of a site by which a list is filtered, so that a number without a site is not a list without entries.
    ///
    /// - Parameter text: `nil` = all sites, which is 0 in requests.
    /// - Throws: `ClientFailure` if it does not exist.
    static func existing(_ text: String?, _ gateway: SignedInConnection) async throws -> Int64 {
        let number = try await number(of: text, gateway)
        guard let text, Int64(text) != nil else { return number }
        return try await AdminAuthServiceClient(gateway).getSite(GetSiteRequest(siteID: number)).site.present("site")
            .siteID
    }

    /// Returns the site with a name; `nil` = it does not exist.
    ///
    /// - Throws: `ClientFailure` if several sites have the name.
    static func site(named name: String, of sites: [Site]) throws(ClientFailure) -> Site? {
        let matches = sites.filter { $0.name == name }
        guard matches.count < 2 else {
            let numbers = matches.map { "\($0.siteID)" }.joined(separator: ", ")
            throw ClientFailure("several sites are named \"\(name)\": use one of the numbers \(numbers)")
        }
        return matches.first
    }
}
