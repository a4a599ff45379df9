import Basics
package import CommandLineInterface
import JSON
package import Proto

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

extension Site: Resource {
    package static let columns = ["site_id", "name", "status", "created_at"]

    package var fields: [ResourceField] {
        [
            .number("site_id", siteID), .text("name", name),
            EnabledStatus.field(status, of: "SITE"),
            .text("time_zone", timeZone), SilenceArgument.field(silentAfterHours), .time("created_at", createdAt),
            .time("updated_at", updatedAt),
        ]
    }
}

/// The state of sites and keys, whose messages have it as a number.
enum EnabledStatus {
    /// Returns the field `state`, whose values have names like those of an enum, e.g. `SITE_STATUS_ENABLED`. JSON also has the number
    /// as `status`, which earlier releases had alone.
    static func field(_ status: Int32, of thing: String) -> ResourceField {
        let word: String? =
            switch status {
            case 1: "enabled"
            case 2: "disabled"
            default: nil
            }
        return ResourceField(
            name: "state", json: .string(word.map { "\(thing)_STATUS_\($0.uppercased())" } ?? "\(status)"),
            text: word ?? "\(status)", heading: "status"
        )
        .formerly("status", .number(Int64(status)))
    }
}
