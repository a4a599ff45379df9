import CommandLineInterface
import GatewayAPI
import Proto
import RPC

/// The site and the suite of `data-gateway quickstart`, decided before anything is created.
struct QuickstartPlan: Sendable {
    /// A resource that exists, or the name with which it is created.
    enum Part<Resource: Sendable>: Sendable {
        case existing(Resource)
        case new(String)

        fileprivate var existing: Resource? {
            if case .existing(let resource) = self { resource } else { nil }
        }
    }

    private static let standardSite = "Site 1"
    /// The suites that the command names by itself are called like this, with a number.
    private static let standardSuite = "Suite "

    let site: Part<Site>
    let suite: Part<DeviceSuite>

    /// - Parameters:
    ///   - site: the site's number or name; `nil` = that of the suite, or the standard one.
    ///   - suite: the suite as in `SuiteArgument`; `nil` = the device's, or the one of the site.
    ///   - device: the device, if it is registered.
    /// - Throws: `ClientFailure` if a number does not exist, a name cannot be used, or the device is in another suite.
    init(
        site: String?, suite: String?, of device: Device?, sites: [Site], suites: [DeviceSuite]
    ) throws(ClientFailure) {
        let own = device?.suite ?? ""
        let wanted = suite ?? (site == nil && !own.isEmpty ? own : nil)
        let given = try site.map { text throws(ClientFailure) in try Self.site(text, sites) }
        let found = try wanted.flatMap { text throws(ClientFailure) in try Self.suite(text, at: given, suites) }
        let chosen: Part<Site>
        if let given {
            chosen = given
        } else if let home = sites.first(where: { $0.siteID == found?.siteID }) {
            chosen = .existing(home)
        } else {
            chosen = try Self.site(Self.standardSite, sites)
        }
        self.site = chosen
        if let found {
            self.suite = .existing(found)
        } else if let wanted {
            try Self.check(wanted, "--suite")
            self.suite = .new(wanted)
        } else {
            self.suite = try Self.standardSuite(at: chosen, suites)
        }
        guard let device, !own.isEmpty, own != self.suite.existing?.name else { return }
        throw ClientFailure(
            "\(device.deviceID) is in \(own): move it with 'device suite add', or give its --site and --suite")
    }

    var siteTitle: String {
        switch site {
        case .existing(let site): site.name
        case .new(let name): name
        }
    }

    var suiteTitle: String {
        switch suite {
        case .existing(let suite): suite.displayName
        case .new(let title): title
        }
    }

    private static func site(_ text: String, _ sites: [Site]) throws(ClientFailure) -> Part<Site> {
        if let number = Int64(text) {
            guard let site = sites.first(where: { $0.siteID == number }) else {
                throw ClientFailure("site \(number) does not exist")
            }
            return .existing(site)
        }
        if let site = try SiteArgument.site(named: text, of: sites) { return .existing(site) }
        try check(text, "--site")
        return .new(text)
    }

    /// - Parameter site: where the suite must be; `nil` = anywhere.
    /// - Returns: `nil` if no suite has that display name.
    private static func suite(
        _ text: String, at site: Part<Site>?, _ suites: [DeviceSuite]
    ) throws(ClientFailure) -> DeviceSuite? {
        let here = site.map { site in suites.filter { $0.siteID == site.existing?.siteID } } ?? suites
        guard DeviceNames.suite(number: text) != nil || here.contains(where: { $0.displayName == text }) else {
            return nil
        }
        let name = try SuiteNames(DeviceNames.suite(number: text) == nil ? here : suites).name(of: text)
        guard let suite = here.first(where: { $0.name == name }) else {
            throw ClientFailure("\(name) is at another site: give its --site, or none")
        }
        return suite
    }

    /// Returns the suite of a site if it has one, or the first that was named by itself if it has several; otherwise a new one, whose
    /// name no other suite has.
    private static func standardSuite(
        at site: Part<Site>, _ suites: [DeviceSuite]
    ) throws(ClientFailure) -> Part<DeviceSuite> {
        let here = suites.filter { $0.siteID == site.existing?.siteID }
        let isStandard = { (title: String) in
            title.hasPrefix(standardSuite) && Int64(title.dropFirst(standardSuite.count)) != nil
        }
        if let suite = here.count == 1 ? here.first : here.first(where: { isStandard($0.displayName) }) {
            return .existing(suite)
        }
        guard here.isEmpty else {
            let titles = here.map(\.displayName).joined(separator: ", ")
            throw ClientFailure("the site has several suites: choose one with --suite: \(titles)")
        }
        let taken = Set(suites.map(\.displayName))
        let numbers = (1...suites.count + 1).lazy.map { "\(standardSuite)\($0)" }
        return .new(numbers.first { !taken.contains($0) } ?? "\(standardSuite)\(suites.count + 1)")
    }

    private static func check(_ name: String, _ option: String) throws(ClientFailure) {
        do throws(RPCError) {
            try FieldRules.title(name, field: option)
        } catch {
            throw ClientFailure(error.message, exitCode: .usage)
        }
    }
}
