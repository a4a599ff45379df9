import CommandLineInterface
import Proto

/// A site as people type it: its number, or its name.
enum SiteArgument {
    static let help = "The site's number or name"

    /// The number of the site.
    ///
    /// - Parameter text: `nil` = every site, which requests call 0.
    /// - Throws: `ClientFailure` where no site has the name, or several have it.
    static func number(of text: String?, _ gateway: SignedInConnection) async throws -> Int64 {
        guard let text else { return 0 }
        if let number = Int64(text) { return number }
        let sites = try await AdminAuthServiceClient(gateway).listSites(ListSitesRequest()).sites
        let matches = sites.filter { $0.name == text }
        guard let site = matches.first else { throw ClientFailure("no site is named \"\(text)\"") }
        guard matches.count == 1 else {
            let numbers = matches.map { "\($0.siteID)" }.joined(separator: ", ")
            throw ClientFailure("several sites are named \"\(text)\": use one of the numbers \(numbers)")
        }
        return site.siteID
    }
}
